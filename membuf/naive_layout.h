// The definition of a layout, element by element as in the BLACS text: the reference for tests of
// StridedLayout's arithmetic.

#ifndef BRIGADE_MEMBUF_NAIVE_LAYOUT_H_
#define BRIGADE_MEMBUF_NAIVE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include "membuf/strided_layout.h"

namespace brigade {

struct LayoutShape {
  StridedLayout::Part part = StridedLayout::Part::kGeneral;
  StridedLayout::Diagonal diagonal = StridedLayout::Diagonal::kIncluded;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  size_t elem_bytes = 1;

  Status Make(StridedLayout* layout) const {
    return StridedLayout::Trapezoid(part, diagonal, rows, cols, ld, elem_bytes, layout);
  }

  // Bytes of memory from the first element to the end of the last column, gap included.
  size_t MemoryBytes() const { return static_cast<size_t>(cols * ld) * elem_bytes; }

  // Memory offset of every packed byte, in packed order. 1-based (i, j), as in the definition.
  std::vector<size_t> MemoryOffsets() const {
    const int64_t d = diagonal == StridedLayout::Diagonal::kLeftOut ? 1 : 0;
    std::vector<size_t> offsets;
    for (int64_t j = 1; j <= cols; ++j) {
      for (int64_t i = 1; i <= rows; ++i) {
        bool takes_part = true;
        if (part == StridedLayout::Part::kUpper) {
          takes_part = rows <= cols ? i <= j - d : i <= j + (rows - cols) - d;
        } else if (part == StridedLayout::Part::kLower) {
          takes_part = rows > cols ? i >= j + d : j <= i + (cols - rows) - d;
        }
        if (!takes_part) continue;
        for (size_t b = 0; b < elem_bytes; ++b) {
          offsets.push_back(static_cast<size_t>((j - 1) * ld + (i - 1)) * elem_bytes + b);
        }
      }
    }
    return offsets;
  }
};

inline std::ostream& operator<<(std::ostream& out, const LayoutShape& s) {
  return out << "part " << static_cast<int>(s.part) << " diagonal left out "
             << (s.diagonal == StridedLayout::Diagonal::kLeftOut) << ", " << s.rows << " x "
             << s.cols << " ld " << s.ld << " elements of " << s.elem_bytes << " bytes";
}

// Every part and diagonal, small and degenerate sizes, with and without a gap between columns.
inline LayoutShape RandomShape(std::mt19937* random, int64_t max_rows, int64_t max_cols) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>((*random)() % n); };
  constexpr size_t kElemBytes[] = {1, 4, 8, 16};
  LayoutShape s;
  s.part = static_cast<StridedLayout::Part>(below(3));
  s.diagonal = static_cast<StridedLayout::Diagonal>(below(2));
  s.rows = below(max_rows + 1);
  s.cols = below(max_cols + 1);
  s.ld = s.rows + (below(2) == 0 ? 0 : below(5));
  s.elem_bytes = kElemBytes[below(4)];
  return s;
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_NAIVE_LAYOUT_H_
