/* Tasks for ranks that are free: each rank takes the next number from a counter that rank 0 has,
   which need not call for that.

   mpicc examples/shared_counter.c -o shared_counter \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./shared_counter

   -> rank 0: 1000 tasks are done, and their sum is 499500 */

#include <mpi.h>
#include <stdio.h>

#include "brigade/window.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  const int64_t tasks = 1000, one = 1;
  int64_t task, sum = 0, number = 0;
  int64_t* memory; /* of rank 0: the next task, tasks done, their sum */
  int rank, ranks;
  brigade_engine* engine;
  brigade_group* group;
  brigade_window* window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));
  check(brigade_window_allocate(group, 3 * sizeof(int64_t), sizeof(int64_t), (void**)&memory,
                                &window));

  check(brigade_window_lock_all(window));
  for (;;) {
    check(brigade_window_fetch_and_op(window, BRIGADE_SUM, BRIGADE_INT64, &one, &task, 0, 0));
    check(brigade_window_flush(window, 0)); /* now it is there */
    if (task >= tasks) break;
    sum += task; /* the work */
    ++number;
  }
  check(brigade_window_accumulate(window, BRIGADE_SUM, &number, 1, BRIGADE_INT64, 0, 1));
  check(brigade_window_accumulate(window, BRIGADE_SUM, &sum, 1, BRIGADE_INT64, 0, 2));
  check(brigade_window_unlock_all(window));
  check(brigade_window_fence(window, BRIGADE_FENCE_NOTHING_SUCCEEDS)); /* all have done so */

  if (rank == 0) {
    printf("rank 0: %lld tasks are done, and their sum is %lld\n", (long long)memory[1],
           (long long)memory[2]);
  }
  check(brigade_window_free(window));
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
