#include "windows/core/access_range.h"

namespace brigade {
namespace {

std::string Bytes(int64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

// How the bytes from `first` to `end`, which is exclusive, leave a memory of `size` bytes.
std::string HowOutside(int64_t first, int64_t end, int64_t size) {
  const std::string begins = first < 0 ? "begins " + Bytes(-first) + " before the window" : "";
  const std::string ends = end > size ? "ends " + Bytes(end - size) + " beyond the window" : "";
  if (begins.empty() && ends.empty()) return "starts from a displacement outside the window";
  return begins + (begins.empty() || ends.empty() ? "" : " and ") + ends;
}

}  // namespace

std::string DescribeAccessOutside(const MemberAttributes& member, int rank, int64_t displacement,
                                  int64_t low, int64_t high) {
  if (member.bytes == kProcessBytes) {
    return "the access to " + Bytes(high - low) + " at address " + std::to_string(displacement) +
           " of rank " + std::to_string(rank) +
           " reaches no memory: displacements in this window are addresses of the target";
  }
  const auto size = static_cast<int64_t>(member.bytes);
  const std::string window = "rank " + std::to_string(rank) + "'s window, which has " + Bytes(size);
  const std::string place =
      ": displacement " + std::to_string(displacement) + ", in units of " + Bytes(member.unit);
  int64_t base = 0;
  int64_t first = 0;
  int64_t end = 0;
  if (__builtin_mul_overflow(displacement, member.unit, &base) ||
      __builtin_add_overflow(base, low, &first) || __builtin_add_overflow(base, high, &end) ||
      first == INT64_MIN) {
    return "the access to " + Bytes(high - low) + " of " + window +
           ", starts from a displacement outside the window" + place;
  }
  return "the access to bytes " + std::to_string(first) + " to " + std::to_string(end - 1) +
         " of " + window + ", " + HowOutside(first, end, size) + place;
}

}  // namespace brigade
