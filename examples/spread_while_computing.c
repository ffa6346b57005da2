/* Every rank's columns to all ranks, while the caller computes.

   mpicc examples/spread_while_computing.c -o spread_while_computing \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./spread_while_computing

   -> rank 0 has the columns of all ranks */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "brigade/brigade.h"

enum { kRows = 1000, kCols = 8 }; /* of each rank */

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Something to do meanwhile. */
static double compute(double x) {
  for (int i = 0; i < 1000; ++i) x += 1 / (x + 1);
  return x;
}

int main(int argc, char** argv) {
  brigade_engine* engine;
  brigade_group* group;
  brigade_operation* spread;
  brigade_status status;
  int rank, ranks, wrong = 0;
  double x = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* Columns of all ranks. This rank's columns are in their place, and are sent from there. */
  double* panel = malloc(sizeof(double) * kRows * kCols * ranks);
  const brigade_matrix all = {.data = panel, .rows = kRows, .cols = (int64_t)kCols * ranks};
  for (int i = 0; i < kRows * kCols; ++i) panel[rank * kRows * kCols + i] = rank;

  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));

  do {
    status = brigade_allgather_start(group, NULL, &all, BRIGADE_DOUBLE, NULL, &spread);
  } while (status == BRIGADE_NO_RESOURCE); /* staging memory is in use */
  check(status);
  while (!brigade_test(spread)) x = compute(x);
  check(brigade_wait(spread, NULL));

  for (int q = 0; q < ranks; ++q) {
    for (int i = 0; i < kRows * kCols; ++i) wrong += panel[q * kRows * kCols + i] != q;
  }
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  if (rank == 0) printf("rank 0 has %s columns of all ranks\n", wrong == 0 ? "the" : "wrong");
  free(panel);
  MPI_Finalize();
  return wrong != 0 || x < 0;
}
