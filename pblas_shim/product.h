// P?GEMM of the PBLAS, C = alpha op(A) op(B) + beta C; and P?SYRK and P?HERK, half of C, with B = A
// and the opposite operation on B.

#ifndef BRIGADE_PBLAS_SHIM_PRODUCT_H_
#define BRIGADE_PBLAS_SHIM_PRODUCT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "pblas_shim/grid.h"

namespace brigade {
namespace pblas {

// The kind of a matrix' distribution, the first entry of its descriptor. In the second kind the
// sizes of the first block precede those of the others. Other kinds are not read further.
constexpr int kBlockCyclic = 1;
constexpr int kBlockCyclicWithFirstBlock = 2;
constexpr size_t kLongestDescriptor = 11;

// A submatrix in a caller's terms: its first row and column, from 1, and its descriptor.
struct Submatrix {
  void* data;
  int64_t row;
  int64_t col;
  std::array<int64_t, kLongestDescriptor> descriptor;
};

// Converts the arguments of a caller with integers of any width.
template <typename Integer>
Submatrix ToSubmatrix(void* data, const Integer* row, const Integer* col,
                      const Integer* descriptor) {
  Submatrix given{data, *row, *col, {}};
  const size_t places = descriptor[0] == kBlockCyclic                 ? 9
                        : descriptor[0] == kBlockCyclicWithFirstBlock ? kLongestDescriptor
                                                                      : 1;
  std::copy_n(descriptor, places, given.descriptor.begin());
  return given;
}

struct ProductArguments {
  // The letters of the caller. P?GEMM has no `half`, and the others no `op_b`: null pointers.
  const char* half;
  const char* op_a;
  const char* op_b;
  bool is_hermitian;
  int64_t m;
  int64_t n;
  int64_t k;
  const void* alpha;  // of the element, like beta
  Submatrix a;
  Submatrix b;
  const void* beta;
  Submatrix c;
};

// Returns whether it has computed the product. If not, it had no effect, on all ranks of the grid,
// and the caller must call the PBLAS, which also report wrong arguments. `left` must be destroyed
// when they return.
bool ComputeProduct(const char* routine, Element element, const ProductArguments& arguments,
                    LeftProduct* left);

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_PRODUCT_H_
