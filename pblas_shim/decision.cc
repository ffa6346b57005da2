#include "pblas_shim/decision.h"

#include <algorithm>

#include "membuf/rules.h"

namespace brigade {
namespace pblas {
namespace {

int64_t LeastTaken(const ProductShape& shape) {
  if (!shape.is_half) return rules::kLeastPblasSize;
  return shape.is_on_one_host ? rules::kLeastPblasHalfSize : rules::kLeastPblasHalfSizeOfHosts;
}

}  // namespace

const char* WhyLeft(Settings::When when, const ProductShape& shape, bool is_row_by_row) {
  const int64_t least = std::min({shape.m, shape.n, shape.k});
  if (when == Settings::When::kOff) return "BRIGADE_PBLAS=off";
  if (least < 1) return "there is nothing to multiply";
  if (when == Settings::When::kAuto) {
    if (shape.ranks == 1) return "one rank has all";
    if (least < LeastTaken(shape)) {
      return shape.is_half && !shape.is_on_one_host
                 ? "it is half of C, and ranks are on several hosts"
                 : "it is small";
    }
  }
  if (!is_row_by_row) return "the ranks of its communicator are not in the grid's order";
  return nullptr;
}

}  // namespace pblas
}  // namespace brigade
