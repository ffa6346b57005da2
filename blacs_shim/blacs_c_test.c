/* blacs.h compiles as C, links, and what may be called before MPI starts can be. */

#include <stdio.h>

#include "brigade/blacs_mpi.h"

int main(void) {
  int initialized = 1;
  int rows = 0, cols = 0, row = 0, col = 0;
  Cblacs_gridinfo(0, &rows, &cols, &row, &col);
  if (rows != -1 || cols != -1 || row != -1 || col != -1) {
    printf("gridinfo of no context: %d x %d, {%d,%d}\n", rows, cols, row, col);
    return 1;
  }
  if (Cdcputime00() != -1.0 || Cdwalltime00() < 0.0) {
    printf("timers: %g, %g\n", Cdcputime00(), Cdwalltime00());
    return 1;
  }
  Cblacs_freebuff(-1, 1);
  Cblacs_exit(0);
  MPI_Initialized(&initialized);
  if (initialized) {
    printf("something initialised MPI\n");
    return 1;
  }
  return 0;
}
