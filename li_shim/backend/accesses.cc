#include "li_shim/backend/accesses.h"

#include <algorithm>
#include <tuple>

namespace brigade {
namespace li {

std::optional<std::pair<Access, Access>> FindConflict(std::vector<Access> accesses) {
  const auto key = [](const Access& a) {
    return std::tie(a.begin, a.end, a.writes, a.process, a.number);
  };
  std::sort(accesses.begin(), accesses.end(),
            [&](const Access& a, const Access& b) { return key(a) < key(b); });
  // Of those before, the one of each kind that reaches furthest.
  const Access* read = nullptr;
  const Access* written = nullptr;
  for (const Access& access : accesses) {
    if (written != nullptr && written->end > access.begin) return std::pair(*written, access);
    if (access.writes && read != nullptr && read->end > access.begin) {
      return std::pair(*read, access);
    }
    const Access*& furthest = access.writes ? written : read;
    if (furthest == nullptr || access.end > furthest->end) furthest = &access;
  }
  return std::nullopt;
}

}  // namespace li
}  // namespace brigade
