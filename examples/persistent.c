/* A call that is made often with the same arguments: planned once, run many times.

   mpicc examples/persistent.c -o persistent \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./persistent

   -> rank 0: 1000 sums, the last one is 3996 */

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
  brigade_plan* plan;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));

  double number = 0, sum = 0;
  const brigade_matrix source = {.data = &number, .rows = 1, .cols = 1};
  const brigade_matrix result = {.data = &sum, .rows = 1, .cols = 1};
  check(brigade_plan_allreduce(group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, NULL, &plan));
  for (int step = 0; step < 1000; ++step) {
    number = step;
    check(brigade_plan_run(plan, NULL));
  }
  if (rank == 0) printf("rank 0: 1000 sums, the last one is %g\n", sum);

  brigade_plan_destroy(plan);
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
