#include "windows/multiply/cutting.h"

#include <algorithm>
#include <cmath>

#include "windows/rules.h"

namespace brigade {
namespace {

// Parts of equal length, but for the last.
int64_t PartLength(int64_t all, int64_t most) {
  const int64_t parts = (all + most - 1) / most;
  return (all + parts - 1) / parts;
}

}  // namespace

Cutting Cut(int64_t m, int64_t n, int64_t k, int64_t elements) {
  // A panel of a long tile is at least this wide, or the product would be one of vectors.
  const auto square = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  const int64_t least_width = std::clamp<int64_t>(square / 4, 1, k);
  const int64_t most_side = std::max<int64_t>(1, elements / least_width);
  Cutting cutting;
  cutting.rows = PartLength(m, most_side);
  cutting.cols = PartLength(n, most_side);
  while (cutting.rows > rules::kTileBuffers * elements / cutting.cols) {
    int64_t& longer = cutting.rows > cutting.cols ? cutting.rows : cutting.cols;
    longer = (longer + 1) / 2;
  }
  cutting.width =
      PartLength(k, std::max<int64_t>(1, elements / std::max(cutting.rows, cutting.cols)));
  return cutting;
}

}  // namespace brigade
