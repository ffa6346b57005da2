// The names that programs of the PBLAS call, from Fortran and from C.

#include <cstdint>

#include "pblas_shim/gemm.h"
#include "pblas_shim/process_functions.h"
#include "windows/elements/element.h"

using brigade::Element;
using brigade::pblas::ComputeGemm;
using brigade::pblas::find_next;
using brigade::pblas::FindFunction;
using brigade::pblas::GemmArguments;
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
    const GemmArguments arguments{op_a,                                                         \
                                  op_b,                                                         \
                                  *m,                                                           \
                                  *n,                                                           \
                                  *k,                                                           \
                                  alpha,                                                        \
                                  ToSubmatrix(a, ia, ja, desca),                                \
                                  ToSubmatrix(b, ib, jb, descb),                                \
                                  beta,                                                         \
                                  ToSubmatrix(c, ic, jc, descc)};                               \
    if (ComputeGemm(text, element, arguments)) return;                                          \
    static auto* const original = FindFunction<decltype(name)>(find_next, #name, text);         \
    original(op_a, op_b, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc,   \
             descc);                                                                            \
  }

extern "C" {

void brigade_take_find_next(void* (*find)(const char*)) { find_next = find; }

BRIGADE_PBLAS_GEMM(psgemm_, "PSGEMM", Element::kFloat)
BRIGADE_PBLAS_GEMM(pdgemm_, "PDGEMM", Element::kDouble)
BRIGADE_PBLAS_GEMM(pcgemm_, "PCGEMM", Element::kComplexFloat)
BRIGADE_PBLAS_GEMM(pzgemm_, "PZGEMM", Element::kComplexDouble)

}  // extern "C"
