#include "pblas_shim/decision.h"

#include <algorithm>

#include "membuf/rules.h"

namespace brigade {
namespace pblas {

const char* WhyLeft(Settings::When when, const ProductShape& shape, bool is_row_by_row) {
  const int64_t least = std::min({shape.m, shape.n, shape.k});
  if (when == Settings::When::kOff) return "BRIGADE_PBLAS=off";
  if (least < 1) return "there is nothing to multiply";
  if (when == Settings::When::kAuto) {
    if (shape.ranks == 1) return "one rank has all";
    if (least < rules::kLeastPblasSize) return "it is small";
    // Between hosts half of C has nothing to gain: docs/design/multiply.md.
    if (shape.is_half && !shape.is_on_one_host)
      return "it is half of C, and ranks are on several hosts";
  }
  if (!is_row_by_row) return "the ranks of its communicator are not in the grid's order";
  return nullptr;
}

}  // namespace pblas
}  // namespace brigade
