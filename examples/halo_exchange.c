/* A rod whose heat spreads: each rank has a part of it, and puts the values at its ends to its
   neighbours, with a notification. A rank waits for no other rank.

   mpicc examples/halo_exchange.c -o halo_exchange \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./halo_exchange

   -> rank 0: the heat is 100 as before */

#include <mpi.h>
#include <stdio.h>

#include "brigade/window.h"

enum { kCells = 50, kSteps = 200 };

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  double u[kCells + 2] = {0}, next[kCells + 2] = {0}, heat = 0, total;
  double edge[4];
  double* halo; /* from the left and from the right, of even steps and of odd ones */
  int rank, ranks, left, right;
  brigade_engine* engine;
  brigade_group* group;
  brigade_window* window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));
  check(brigade_window_allocate(group, 4 * sizeof(double), sizeof(double), (void**)&halo, &window));

  left = (rank + ranks - 1) % ranks; /* the rod is a ring */
  right = (rank + 1) % ranks;
  if (rank == 0) u[1] = 100;
  for (int step = 0; step < kSteps; ++step) {
    const int odd = step % 2 * 2; /* a neighbour may be one step ahead, and not two */
    edge[odd] = u[kCells];
    edge[odd + 1] = u[1];
    check(brigade_window_put_notify(window, &edge[odd + 1], 1, BRIGADE_DOUBLE, left, odd + 1));
    check(brigade_window_put_notify(window, &edge[odd], 1, BRIGADE_DOUBLE, right, odd));
    check(brigade_window_notify_wait(window, left, 1));
    check(brigade_window_notify_wait(window, right, 1));
    u[0] = halo[odd];
    u[kCells + 1] = halo[odd + 1];
    for (int i = 1; i <= kCells; ++i) next[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
    for (int i = 1; i <= kCells; ++i) u[i] = next[i];
  }

  for (int i = 1; i <= kCells; ++i) heat += u[i];
  MPI_Reduce(&heat, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("rank 0: the heat is %.6g %s\n", total,
           total > 99.999 && total < 100.001 ? "as before" : "now");
  }
  check(brigade_window_free(window));
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
