#include "pblas_shim/decision.h"

#include <algorithm>

#include "pblas_shim/rules.h"

namespace brigade {
namespace pblas {

const char* WhyLeft(Settings::When when, const ProductShape& shape, bool is_row_by_row) {
  const int64_t least = std::min({shape.m, shape.n, shape.k});
  if (when == Settings::When::kOff) return "BRIGADE_PBLAS=off";
  if (least < 1) return "there is nothing to multiply";
  if (when == Settings::When::kAuto) {
    if (shape.rows * shape.cols == 1) return "one rank has all";
    if (least < (shape.is_half ? rules::kLeastPblasHalfSize : rules::kLeastPblasSize)) {
      return "it is small";
    }
    if (shape.is_half && std::min(shape.rows, shape.cols) < rules::kLeastPblasHalfSide) {
      return "it is half of C, on a grid of one row or column";
    }
  }
  if (!is_row_by_row) return "the ranks of its communicator are not in the grid's order";
  return nullptr;
}

}  // namespace pblas
}  // namespace brigade
