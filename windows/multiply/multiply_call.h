// MultiplyCall: one product of matrices that are distributed in blocks over a grid, and how it is
// computed.

#ifndef BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_CALL_H_
#define BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_CALL_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "windows/core/window.h"

namespace brigade {

// A submatrix of a matrix that is distributed in blocks over a grid. All but `data`, `ld` and
// `window` is equal on all ranks.
struct DistributedMatrix {
  std::byte* data = nullptr;  // this rank's part, column-major; null only if it has no element
  int64_t rows = 0;           // of the whole matrix
  int64_t cols = 0;
  int64_t row_block = 1;  // of each block, at least 1
  int64_t col_block = 1;
  // How much longer the first block is, or, below 0, shorter; above -row_block, -col_block.
  int64_t more_rows = 0;
  int64_t more_cols = 0;
  int row_source = 0;  // the row and the column of the grid that have the first block
  int col_source = 0;
  int64_t ld = 1;  // in elements; of this rank's part, at least its rows and 1; may differ by rank
  // Where the submatrix begins, from 0.
  int64_t row = 0;
  int64_t col = 0;
  // The window that `data` lies in, of these very ranks: those of one host then see each other's
  // parts. None is needed, and no epoch. On all ranks or on none.
  const Window* window = nullptr;
};

enum class Transpose : uint8_t {
  kNo = 0,
  kYes,
  kConjugate,  // and transposed
};

// The part of C that is computed. The rest is neither read nor changed.
enum class Half : uint8_t {
  kBoth = 0,
  kUpper,  // with the diagonal
  kLower,  // with the diagonal
};
inline constexpr int kHalves = 3;

// Equal on all ranks, but what DistributedMatrix says may differ.
struct MultiplyCall {
  Element element = Element::kDouble;  // kFloat, kDouble, kComplexFloat or kComplexDouble
  Transpose op_a = Transpose::kNo;
  Transpose op_b = Transpose::kNo;
  int64_t m = 0;  // rows of op(A) and C
  int64_t n = 0;  // columns of op(B) and C
  int64_t k = 0;  // columns of op(A), rows of op(B)
  // C is square, if it is not kBoth.
  Half half = Half::kBoth;
  // The diagonal of C is real: its imaginary parts count as 0, and become so. REQUIRES: elements
  // are complex, alpha and beta real.
  bool is_hermitian = false;
  const void* alpha = nullptr;  // an element each, as in the BLAS: of what 0 multiplies, nothing is
  const void* beta = nullptr;   // read
  DistributedMatrix a;
  DistributedMatrix b;
  DistributedMatrix c;  // no element of it takes part in A or B
};

// In which order a rank takes what it sums over. None changes the result. May differ by rank.
enum class MultiplyOrder : uint8_t {
  kDiagonal = 0,  // each rank begins elsewhere, so that few fetch from one owner at a time
  kNatural,       // as it lies
};
inline constexpr int kMultiplyOrders = 2;

// How a product is computed; changes times, never the result. May differ by rank.
struct MultiplyOptions {
  MultiplyOrder order = MultiplyOrder::kDiagonal;
  int depth = 1;         // pieces that are on their way while one is multiplied; 0: none
  bool in_place = true;  // what this process sees of others' memory is read where it is
};
inline constexpr int kMostMultiplyDepth = 16;

// Counters of a product on this rank.
struct MultiplyStatistics {
  int64_t products = 0;  // calls of the BLAS
  int64_t in_place = 0;  // operands of these that were read where they are
  int64_t gets = 0;      // of others' memory
  int64_t bytes_got = 0;
};

// Equal on all ranks, but for goes_directly.
struct MultiplierOptions {
  int rows = 1;  // of the grid, whose ranks are numbered row by row
  int cols = 1;
  // Of the buffer of one piece, at least kLeastMultiplyBuffer. A rank takes two for each piece of
  // the sum that is on its way, two for the one at work, and up to four for a sum. Decides how much
  // is summed at once.
  size_t buffer_bytes = size_t{8} << 20;
  // Whether memory of others that can be reached without messages is.
  bool goes_directly = true;
};
inline constexpr size_t kLeastMultiplyBuffer = 4096;

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_CALL_H_
