/* Groups of ranks: the rows and columns of a grid, parts of a group, and a list of ranks.

   mpicc examples/groups.c -o groups \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./groups

   -> rank 3 is rank 1 of 2 in its row: the row's sum is 5, the column's 4
   -> rank 3 is rank 0 of 2 odd ranks, in reverse: their sum is 4
   -> rank 3 is the first of a list of two: their sum is 3 */

#include <mpi.h>
#include <stdio.h>

#include "brigade/brigade.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The sum of the numbers of all ranks of a scope. */
static double sum_over(brigade_group* group, brigade_scope scope, double number) {
  brigade_call_options options = brigade_call_options_init();
  const brigade_matrix in_place = {.data = &number, .rows = 1, .cols = 1};
  options.scope = scope;
  check(brigade_allreduce(group, NULL, &in_place, BRIGADE_DOUBLE, BRIGADE_SUM, &options));
  return number;
}

int main(int argc, char** argv) {
  brigade_engine* engine;
  brigade_group *grid, *half, *listed;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_last = rank == ranks - 1;
  check(brigade_engine_create(NULL, &engine));

  /* Two rows, which need no groups of their own. */
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 2, ranks / 2, &grid));
  const double row = sum_over(grid, BRIGADE_ROW, rank);
  const double column = sum_over(grid, BRIGADE_COLUMN, rank);
  if (is_last) {
    printf("rank %d is rank %d of %d in its row: the row's sum is %g, the column's %g\n", rank,
           brigade_scope_rank(grid, BRIGADE_ROW), brigade_scope_size(grid, BRIGADE_ROW), row,
           column);
  }

  /* Even ranks and odd ranks, each in reverse order: a colour and a key, as in MPI. */
  check(brigade_group_split(grid, rank % 2, -rank, &half));
  const double part = sum_over(half, BRIGADE_ALL, rank);
  if (is_last) {
    printf("rank %d is rank %d of %d odd ranks, in reverse: their sum is %g\n", rank,
           brigade_scope_rank(half, BRIGADE_ALL), brigade_scope_size(half, BRIGADE_ALL), part);
  }
  brigade_group_destroy(half);

  /* The last rank and the first. All ranks of the parent make this call. */
  const int list[2] = {ranks - 1, 0};
  check(brigade_group_from_ranks(grid, list, 1, 2, &listed));
  if (listed != NULL) {
    const double sum = sum_over(listed, BRIGADE_ALL, rank);
    if (is_last) printf("rank %d is the first of a list of two: their sum is %g\n", rank, sum);
  }
  brigade_group_destroy(listed); /* NULL is ignored */

  brigade_group_destroy(grid);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
