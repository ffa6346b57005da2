// The names that programs of the PBLAS call, from Fortran and from C.

#include "pblas_shim/gemm.h"
#include "pblas_shim/process_functions.h"
#include "windows/elements/element.h"

using brigade::Element;
using brigade::pblas::ComputeGemm;
using brigade::pblas::FindFunction;
using brigade::pblas::GemmArguments;

#define BRIGADE_PBLAS_GEMM(name, text, element)                                                 \
  __attribute__((visibility("default"))) void name(                                             \
      const char* op_a, const char* op_b, const int* m, const int* n, const int* k,             \
      const void* alpha, void* a, const int* ia, const int* ja, const int* desca, void* b,      \
      const int* ib, const int* jb, const int* descb, const void* beta, void* c, const int* ic, \
      const int* jc, const int* descc) {                                                        \
    const GemmArguments arguments{op_a,                                                         \
                                  op_b,                                                         \
                                  m,                                                            \
                                  n,                                                            \
                                  k,                                                            \
                                  alpha,                                                        \
                                  {a, ia, ja, desca},                                           \
                                  {b, ib, jb, descb},                                           \
                                  beta,                                                         \
                                  {c, ic, jc, descc}};                                          \
    if (ComputeGemm(text, element, arguments)) return;                                          \
    static auto* const original = FindFunction<decltype(name)>(RTLD_NEXT, #name, text);         \
    original(op_a, op_b, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc,   \
             descc);                                                                            \
  }

extern "C" {

BRIGADE_PBLAS_GEMM(psgemm_, "PSGEMM", Element::kFloat)
BRIGADE_PBLAS_GEMM(pdgemm_, "PDGEMM", Element::kDouble)
BRIGADE_PBLAS_GEMM(pcgemm_, "PCGEMM", Element::kComplexFloat)
BRIGADE_PBLAS_GEMM(pzgemm_, "PZGEMM", Element::kComplexDouble)

}  // extern "C"
