/* A program with an event loop receives results in the order in which they come, and sleeps in
   poll() until then.

   mpicc examples/event_loop.c -o event_loop \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./event_loop

   -> rank 0 has received 3 results, their sum is 14 */

#include <mpi.h>
#include <poll.h>
#include <stdio.h>

#include "brigade/brigade.h"

enum { kMostRanks = 64 };

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void receive_results(brigade_engine* engine, brigade_group* group, int ranks) {
  double results[kMostRanks], sum = 0;
  brigade_operation* receives[kMostRanks] = {NULL}; /* that of rank 0 stays NULL */
  size_t places[kMostRanks], ended;
  struct pollfd event = {.fd = -1, .events = POLLIN};

  check(brigade_engine_fd(engine, &event.fd));
  for (int q = 1; q < ranks; ++q) {
    const brigade_matrix result = {.data = &results[q], .rows = 1, .cols = 1};
    check(brigade_recv_start(group, &result, BRIGADE_DOUBLE, q, NULL, &receives[q]));
  }
  for (int missing = ranks - 1; missing > 0; missing -= (int)ended) {
    brigade_progress(engine); /* makes the descriptor unreadable */
    check(brigade_test_some(receives, ranks, places, &ended));
    for (size_t i = 0; i < ended; ++i) sum += results[places[i]];
    if (ended == 0) poll(&event, 1, -1); /* an event loop has descriptors of its own here, too */
  }
  printf("rank 0 has received %d results, their sum is %g\n", ranks - 1, sum);
}

int main(int argc, char** argv) {
  brigade_engine* engine;
  brigade_group* group;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0 && ranks > kMostRanks) {
    fprintf(stderr, "event_loop: %d ranks; start at most %d\n", ranks, kMostRanks);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));

  if (rank == 0) {
    receive_results(engine, group, ranks);
  } else {
    double square = (double)rank * rank;
    const brigade_matrix result = {.data = &square, .rows = 1, .cols = 1};
    check(brigade_send(group, &result, BRIGADE_DOUBLE, 0, NULL));
  }

  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
