// The BLAS that the program has: its general product, looked up in the process.

#ifndef BRIGADE_WINDOWS_MULTIPLY_BLAS_H_
#define BRIGADE_WINDOWS_MULTIPLY_BLAS_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "membuf/status.h"

namespace brigade {

// ?gemm of one kind of elements. Sizes and leading dimensions fit into 31 bits, so that it does not
// matter how long the integers of the BLAS are.
class Gemm {
 public:
  // kUnavailable: the process has none; kInvalidArgument: there is none of such elements.
  static Status Find(Element element, Gemm* gemm);

  // C = alpha op(A) op(B) + beta C, as in the BLAS; `op_a`, `op_b`: N, T or C.
  void operator()(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                  const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta, void* c,
                  int64_t ldc) const {
    call_(&op_a, &op_b, &m, &n, &k, alpha, a, &lda, b, &ldb, beta, c, &ldc, 1, 1);
  }

 private:
  // Integers are read from their low half by a BLAS of 32 bits; the last two are Fortran's lengths
  // of strings.
  using Call = void (*)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*,
                        const void*, const void*, const int64_t*, const void*, const int64_t*,
                        const void*, void*, const int64_t*, size_t, size_t);

  Call call_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_BLAS_H_
