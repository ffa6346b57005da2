/* Calls on a group get on while a peer is in MPI_Send, if the engine was made before MPI_Init. */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include <mpi.h>
#include <stdio.h>

#include "brigade/brigade.h"
#include "test/support/wait_in_call.h"

static brigade_engine* engine;
static brigade_group* group;

static void require(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s\n", brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void barrier(void) { require(brigade_barrier(group, NULL)); }

int main(int argc, char** argv) {
  int rank;
  brigade_options options = brigade_options_init();
  options.transport = "shm";
  if (brigade_engine_create(&options, &engine) != BRIGADE_OK) return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, 2, &group));
  wait_in_call("barrier", rank, NULL, barrier);
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
