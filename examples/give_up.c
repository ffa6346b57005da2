/* A rank that cannot go on gives the group up: the calls of all others end, too, and say why.

   mpicc examples/give_up.c -o give_up \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./give_up

   -> rank 0: rank 2 of the group aborted it: there is no input
   -> rank 3: rank 2 of the group aborted it: there is no input */

#include <mpi.h>
#include <stdio.h>

#include "brigade/brigade.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  brigade_engine* engine;
  brigade_group* group;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));

  double number = rank, sum = 0;
  const brigade_matrix source = {.data = &number, .rows = 1, .cols = 1};
  const brigade_matrix result = {.data = &sum, .rows = 1, .cols = 1};
  brigade_call_options options = brigade_call_options_init();
  options.timeout_seconds = 60; /* should a rank never call */
  if (rank == 2) brigade_group_abort(group, "there is no input");
  brigade_status status =
      brigade_allreduce(group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &options);
  if (status != BRIGADE_OK) printf("rank %d: %s\n", rank, brigade_error_text());

  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return status != BRIGADE_ABORTED;
}
