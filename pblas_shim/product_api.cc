// The names that programs of the PBLAS call, from Fortran and from C.

#include <complex>
#include <cstdint>

#include "membuf/element.h"
#include "pblas_shim/grid.h"
#include "pblas_shim/process_functions.h"
#include "pblas_shim/product.h"

using brigade::Element;
using brigade::pblas::ComputeProduct;
using brigade::pblas::find_next;
using brigade::pblas::FindFunction;
using brigade::pblas::LeftProduct;
using brigade::pblas::ProductArguments;
using brigade::pblas::ToSubmatrix;

#ifdef BRIGADE_PBLAS_ILP64
using Integer = int64_t;
#else
using Integer = int;
#endif

#define BRIGADE_PBLAS_GEMM(name, text, element)                                                 \
  __attribute__((visibility("default"))) void name(                                             \
      const char* op_a, const char* op_b, const Integer* m, const Integer* n, const Integer* k, \
      const void* alpha, void* a, const Integer* ia, const Integer* ja, const Integer* desca,   \
      void* b, const Integer* ib, const Integer* jb, const Integer* descb, const void* beta,    \
      void* c, const Integer* ic, const Integer* jc, const Integer* descc) {                    \
    const ProductArguments arguments{nullptr,                                                   \
                                     op_a,                                                      \
                                     op_b,                                                      \
                                     /*is_hermitian=*/false,                                    \
                                     *m,                                                        \
                                     *n,                                                        \
                                     *k,                                                        \
                                     alpha,                                                     \
                                     ToSubmatrix(a, ia, ja, desca),                             \
                                     ToSubmatrix(b, ib, jb, descb),                             \
                                     beta,                                                      \
                                     ToSubmatrix(c, ic, jc, descc)};                            \
    LeftProduct left;                                                                           \
    if (ComputeProduct(text, element, arguments, &left)) return;                                \
    static auto* const original = FindFunction<decltype(name)>(find_next, #name, text);         \
    original(op_a, op_b, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc,   \
             descc);                                                                            \
  }

// P?SYRK and P?HERK. `Scalar`: the type of alpha and beta; `Value`: of an element.
#define BRIGADE_PBLAS_HALF(name, text, element, Scalar, Value, is_hermitian)                     \
  __attribute__((visibility("default"))) void name(                                              \
      const char* half, const char* op, const Integer* n, const Integer* k, const Scalar* alpha, \
      void* a, const Integer* ia, const Integer* ja, const Integer* desca, const Scalar* beta,   \
      void* c, const Integer* ic, const Integer* jc, const Integer* descc) {                     \
    const Value scalars[] = {*alpha, *beta};                                                     \
    const ProductArguments arguments{half,                                                       \
                                     op,                                                         \
                                     nullptr,                                                    \
                                     is_hermitian,                                               \
                                     *n,                                                         \
                                     *n,                                                         \
                                     *k,                                                         \
                                     &scalars[0],                                                \
                                     ToSubmatrix(a, ia, ja, desca),                              \
                                     ToSubmatrix(a, ia, ja, desca),                              \
                                     &scalars[1],                                                \
                                     ToSubmatrix(c, ic, jc, descc)};                             \
    LeftProduct left;                                                                            \
    if (ComputeProduct(text, element, arguments, &left)) return;                                 \
    static auto* const original = FindFunction<decltype(name)>(find_next, #name, text);          \
    original(half, op, n, k, alpha, a, ia, ja, desca, beta, c, ic, jc, descc);                   \
  }

extern "C" {

void brigade_take_find_next(void* (*find)(const char*)) { find_next = find; }

void brigade_take_find_first(void* (*find)(const char*)) {
  brigade::pblas::find_first = find;
  brigade::pblas::ShowBlas();
}

BRIGADE_PBLAS_GEMM(psgemm_, "PSGEMM", Element::kFloat)
BRIGADE_PBLAS_GEMM(pdgemm_, "PDGEMM", Element::kDouble)
BRIGADE_PBLAS_GEMM(pcgemm_, "PCGEMM", Element::kComplexFloat)
BRIGADE_PBLAS_GEMM(pzgemm_, "PZGEMM", Element::kComplexDouble)

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;
BRIGADE_PBLAS_HALF(pssyrk_, "PSSYRK", Element::kFloat, float, float, false)
BRIGADE_PBLAS_HALF(pdsyrk_, "PDSYRK", Element::kDouble, double, double, false)
BRIGADE_PBLAS_HALF(pcsyrk_, "PCSYRK", Element::kComplexFloat, Complex, Complex, false)
BRIGADE_PBLAS_HALF(pzsyrk_, "PZSYRK", Element::kComplexDouble, DoubleComplex, DoubleComplex, false)
BRIGADE_PBLAS_HALF(pcherk_, "PCHERK", Element::kComplexFloat, float, Complex, true)
BRIGADE_PBLAS_HALF(pzherk_, "PZHERK", Element::kComplexDouble, double, DoubleComplex, true)

}  // extern "C"
