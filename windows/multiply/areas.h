// Areas: what of a rank's part of C is wanted, as rectangles.
//
// A triangle of C is steps in the part of a rank, for its rows and columns rise with their numbers.
// A rectangle that the diagonal crosses is cut in two until it is small.

#ifndef BRIGADE_WINDOWS_MULTIPLY_AREAS_H_
#define BRIGADE_WINDOWS_MULTIPLY_AREAS_H_

#include <cstdint>
#include <vector>

#include "windows/multiply/distribution.h"
#include "windows/multiply/multiply_call.h"

namespace brigade {

// In a rank's part.
struct Area {
  int64_t row = 0;
  int64_t col = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  bool is_crossed = false;  // some of it is not wanted
};

// For each of a rank's columns, which of its rows are wanted. `rows`, `cols`: the indices that it
// has.
std::vector<IndexRange> WantedRows(Half half, const std::vector<IndexRange>& rows,
                                   const std::vector<IndexRange>& cols);

// Returns rectangles that cover the wanted elements of `all`. Crossed ones have a few others, too,
// and at most rules::kMostCrossed rows and columns.
std::vector<Area> AreasOf(const Area& all, const std::vector<IndexRange>& wanted);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_AREAS_H_
