// How a rank's part of a product is cut, so that what it works on fits into buffers. A function of
// shapes and of the size of a buffer: it decides how sums are associated.

#ifndef BRIGADE_WINDOWS_MULTIPLY_CUTTING_H_
#define BRIGADE_WINDOWS_MULTIPLY_CUTTING_H_

#include <cstdint>

namespace brigade {

// The rank's part of C is computed tile by tile. For each, panels of A, rows x width, and of B,
// width x cols, are multiplied. Each panel fits into a buffer, and a tile into
// rules::kTileBuffers of them.
struct Cutting {
  int64_t rows = 1;
  int64_t cols = 1;
  int64_t width = 1;
};

// m x n: this rank's part; k: what is summed over; `elements` of a buffer. REQUIRES: all at
// least 1.
Cutting Cut(int64_t m, int64_t n, int64_t k, int64_t elements);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_CUTTING_H_
