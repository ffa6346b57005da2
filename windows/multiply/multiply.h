// Multiplier: products of matrices that are spread over a grid of processes, block-cyclically as
// ScaLAPACK has them: C = alpha op(A) op(B) + beta C. The C++ face; <brigade/multiply.h> is the C
// one.
//
// Each rank computes its own part of C. It gets what it needs of A and B from those who have it,
// without their help, the next pieces while it multiplies; what it sees in memory it reads there.
//
// The order of summation, and so the result to the last bit, is a function of the shapes, the
// distributions, the grid and the buffer size, as far as that holds for the BLAS. The options of a
// call do not change it, nor does what arrives first, nor which ranks share a host. See panels.h.
//
// Source: SRUMMA, M. Krishnan and J. Nieplocha.

#ifndef BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_
#define BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/elements/element.h"
#include "windows/message/window_space.h"

namespace brigade {

// A submatrix of a matrix that is dealt in blocks to a grid. All but `data`, `ld` and `window` is
// equal on all ranks.
struct DistributedMatrix {
  std::byte* data = nullptr;  // this rank's part, column-major; null only if it has no element
  int64_t rows = 0;           // of the whole matrix
  int64_t cols = 0;
  int64_t row_block = 1;  // of each block, at least 1
  int64_t col_block = 1;
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

// Equal on all ranks, but what DistributedMatrix says may differ.
struct MultiplyCall {
  Element element = Element::kDouble;  // kFloat, kDouble, kComplexFloat or kComplexDouble
  Transpose op_a = Transpose::kNo;
  Transpose op_b = Transpose::kNo;
  int64_t m = 0;                // rows of op(A) and C
  int64_t n = 0;                // columns of op(B) and C
  int64_t k = 0;                // columns of op(A), rows of op(B)
  const void* alpha = nullptr;  // an element each, as in the BLAS: of what 0 multiplies, nothing is
  const void* beta = nullptr;   // read
  DistributedMatrix a;
  DistributedMatrix b;
  DistributedMatrix c;  // no element of it takes part in A or B
};

// In which order a rank takes what it sums over. None changes the result. May differ by rank.
enum class MultiplyOrder : uint8_t {
  kDiagonal = 0,  // each rank begins elsewhere, so that few ask one owner at a time
  kNatural,       // as it lies
  kOwnFirst,      // what is its own, then as kDiagonal
};
inline constexpr int kMultiplyOrders = 3;

// How a product is computed; changes times, never the result. May differ by rank.
struct MultiplyOptions {
  MultiplyOrder order = MultiplyOrder::kDiagonal;
  int depth = 1;         // pieces that are on their way while one is multiplied; 0: none
  bool in_place = true;  // what this process sees of others' memory is read where it is
};
inline constexpr int kMostMultiplyDepth = 16;

// What a product did on this rank.
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
  // Of the buffer of one piece of A and one of B, at least kLeastMultiplyBuffer. A rank takes one
  // more than there are on their way, and up to four for sums. Decides how much is summed at once.
  size_t buffer_bytes = size_t{8} << 20;
  // Whether memory of others that can be reached without messages is.
  bool goes_directly = true;
};
inline constexpr size_t kLeastMultiplyBuffer = 4096;

// What a grid of ranks needs to multiply, made once. Each call of it then costs two short
// exchanges beside the work. One thread at a time uses it.
class Multiplier {
 public:
  // Collective over the members of `bootstrap`, options.rows * options.cols of them. `space` must
  // outlive it. kInvalidArgument, kMismatch, and what Window::Create says; the same on all ranks.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap, const MultiplierOptions& options,
                       std::unique_ptr<Multiplier>* multiplier);
  // Local. Unless it was freed or is broken, it is aborted on all ranks.
  ~Multiplier();
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;
  // Collective. Nothing but the destructor may follow.
  Status Free();

  int rank() const;
  int rows() const { return options_.rows; }
  int cols() const { return options_.cols; }

  // Collective. When it returns this rank's part of C is computed, and nobody reads its A and B any
  // more; meanwhile they must not change. Memory may be any that the process has.
  //
  // kInvalidArgument: an argument that is named, here or on another rank; kMismatch: ranks differ
  // in what must be equal; kUnavailable: the process has no BLAS. These are on all ranks, and
  // nothing happened. After any other failure the multiplier is broken, on all ranks, and C is
  // unspecified.
  Status Multiply(const MultiplyCall& call, const MultiplyOptions& options = MultiplyOptions(),
                  MultiplyStatistics* statistics = nullptr);

 private:
  struct Scratch;

  Multiplier(const MultiplierOptions& options, std::unique_ptr<Window> window);

  const MultiplierOptions options_;
  std::unique_ptr<Window> window_;  // all memory of each process
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_MULTIPLY_H_
