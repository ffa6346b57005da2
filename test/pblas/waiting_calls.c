/* Every call of the PBLAS that can wait, while a peer is in MPI_Send (test/support/wait_in_call.h).
   Calls of other types are of the same source. */

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>

#include "test/support/wait_in_call.h"

void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridinit_(int* context, const char* order, const int* rows, const int* cols);
void blacs_gridexit_(const int* context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void pdsyrk_(const char* uplo, const char* op, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);

enum { kSide = 64 };

static int rank, context;
static double a[kSide * kSide / 2], b[kSide * kSide / 2], c[kSide * kSide / 2];
static const int kOne = 1, kTwo = 2, kZero = 0, kN = kSide;
static const double kFactor = 1;

static void gridinit(void) {
  blacs_get_(&kZero, &kZero, &context);
  blacs_gridinit_(&context, "Row", &kOne, &kTwo);
}
static void gridexit(void) { blacs_gridexit_(&context); }
static void gemm(void) {
  const int descriptor[] = {1, context, kSide, kSide, kSide, kSide / 2, 0, 0, kSide};
  pdgemm_("N", "N", &kN, &kN, &kN, &kFactor, a, &kOne, &kOne, descriptor, b, &kOne, &kOne,
          descriptor, &kFactor, c, &kOne, &kOne, descriptor);
}
static void syrk(void) {
  const int descriptor[] = {1, context, kSide, kSide, kSide, kSide / 2, 0, 0, kSide};
  pdsyrk_("U", "N", &kN, &kN, &kFactor, a, &kOne, &kOne, descriptor, &kFactor, c, &kOne, &kOne,
          descriptor);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  gridinit();
  wait_in_call("P?GEMM, the first", rank, NULL, gemm);
  wait_in_call("P?GEMM", rank, NULL, gemm);
  wait_in_call("P?SYRK", rank, NULL, syrk);
  wait_in_call("blacs_gridexit", rank, NULL, gridexit);
  if (rank == 0) printf("all calls\n");
  MPI_Finalize();
  return 0;
}
