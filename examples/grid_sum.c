/* The BLACS from C: each row of a 2 x 2 grid sums a matrix.

   mpicc examples/grid_sum.c -o grid_sum \
     -Iinclude -Lbazel-bin/blacs_shim -lbrigade_blacs -Wl,-rpath,$PWD/bazel-bin/blacs_shim
   mpirun -n 4 --oversubscribe ./grid_sum

   -> process {0,0}: the sum of row 0 is 1 */

#include <stdio.h>

#include "brigade/blacs.h"

int main(void) {
  int rank, ranks, context, rows, cols, row, col;
  Cblacs_pinfo(&rank, &ranks); /* initialises MPI */
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", 2, 2);
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  if (row >= 0) {
    double a[3 * 3];
    for (int i = 0; i < 9; ++i) a[i] = rank;
    Cdgsum2d(context, "R", " ", 3, 3, a, 3, -1, -1); /* -1: the result goes to the whole row */
    if (rank == 0) printf("process {0,0}: the sum of row 0 is %g\n", a[0]);
    Cblacs_gridexit(context);
  }
  Cblacs_exit(0); /* finalises MPI */
  return 0;
}
