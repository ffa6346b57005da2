/* LI: each process has rows of a matrix, and puts what belongs to others where they want it. The
   same program runs over several libraries: BRIGADE_LI_BACKEND says which.

   mpicc examples/transpose.c -o transpose \
     -Iinclude -Lbazel-bin/li_shim -lbrigade_li -Wl,-rpath,$PWD/bazel-bin/li_shim
   mpirun -n 4 --oversubscribe ./transpose
   mpirun -n 4 --oversubscribe env BRIGADE_LI_BACKEND=mpi_rma ./transpose
   mpirun -n 4 --oversubscribe env BRIGADE_LI_CHECK=1 ./transpose

   -> process 0: the matrix is transposed */

#include <stdio.h>
#include <stdlib.h>

#include "brigade/li.h"

enum { kRows = 3 }; /* of each process */

int main(void) {
  const int processes = LINPROCS(), n = kRows * processes;
  double* const rows = malloc((size_t)(kRows * n) * sizeof(double));
  double* const columns = malloc((size_t)(kRows * n) * sizeof(double));
  double* wrong = calloc((size_t)processes, sizeof(double));
  double mistakes = 0;
  int i, j, me;
  LIBEGIN(processes);
  me = LIPID();
  LIREGISTER(columns, (size_t)(kRows * n) * sizeof(double));
  LIREGISTER(wrong, (size_t)processes * sizeof(double));
  LIINIT();
  LICOMMIT();

  for (i = 0; i < kRows; ++i) {
    for (j = 0; j < n; ++j) {
      const size_t place = (size_t)(j % kRows * n + me * kRows + i);
      double* const element = &rows[i * n + j];
      *element = (me * kRows + i) * 1000 + j;
      LIPUT(j / kRows, element, columns, place * sizeof(double), sizeof(double));
    }
  }
  LISYNC();    /* rows may be changed now */
  LIBARRIER(); /* columns are there */

  for (i = 0; i < kRows; ++i) {
    for (j = 0; j < n; ++j) mistakes += columns[i * n + j] != j * 1000 + me * kRows + i;
  }
  LIPUT(0, &mistakes, wrong, (size_t)me * sizeof(double), sizeof(double));
  LISYNC();
  LIBARRIER();
  for (i = 1; me == 0 && i < processes; ++i) wrong[0] += wrong[i];
  if (me == 0) printf("process 0: the matrix is %stransposed\n", wrong[0] == 0 ? "" : "not ");

  LIDEREGISTER(wrong);
  LIDEREGISTER(columns);
  LIEND();
  free(wrong);
  free(columns);
  free(rows);
  return 0;
}
