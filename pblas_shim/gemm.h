// P?GEMM: C = alpha op(A) op(B) + beta C, as the PBLAS have it.

#ifndef BRIGADE_PBLAS_SHIM_GEMM_H_
#define BRIGADE_PBLAS_SHIM_GEMM_H_

#include "windows/elements/element.h"

namespace brigade {
namespace pblas {

// A submatrix as a caller gives it: its descriptor, and where it begins, from 1.
struct Submatrix {
  void* data;
  const int* row;
  const int* col;
  const int* descriptor;
};

struct GemmArguments {
  const char* op_a;
  const char* op_b;
  const int* m;
  const int* n;
  const int* k;
  const void* alpha;
  Submatrix a;
  Submatrix b;
  const void* beta;
  Submatrix c;
};

// Whether it has computed the product. Otherwise nothing happened, on any rank of the grid, and the
// PBLAS are to be called: they also tell of wrong arguments, as only they can.
bool ComputeGemm(const char* routine, Element element, const GemmArguments& arguments);

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_GEMM_H_
