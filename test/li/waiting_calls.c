/* Every call of LI that can wait, while a peer is in MPI_Send (test/support/wait_in_call.h). */

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>

#include "brigade/li.h"
#include "test/support/wait_in_call.h"

static int rank;
static char memory[2][1 << 18], sources[sizeof(memory[0])], results[sizeof(memory[0])];
static int bytes;

static void begin(void) { LIBEGIN(LINPROCS()); }
static void add(void) { LIREGISTER(memory[0], sizeof(memory[0])); }
static void add_labelled(void) { LIOREGISTER(memory[1], sizeof(memory[1])); }
static void init(void) { LIINIT(); }
static void init_labelled(void) { LIOINIT(memory[1]); }
static void commit(void) { LICOMMIT(); }
static void commit_labelled(void) { LIOCOMMIT(); }

/* Both ranks have put and got. */
static void use(void) {
  LIPUT(1 - rank, sources, memory[0], 0, (size_t)bytes);
  LIGET(1 - rank, memory[1], 0, results, (size_t)bytes);
}
static void finish(void) {
  LISYNC();
  LIBARRIER();
}
static void sync(void) { LISYNC(); }
static void barrier(void) { LIBARRIER(); }
static void barrier_behind_sync(void) {
  LISYNC();
  LIBARRIER();
}
static void use_labelled(void) {
  LIOPUT(1 - rank, sources, memory[1], 0, (size_t)bytes);
  LIOGET(1 - rank, memory[1], (size_t)bytes, results, (size_t)bytes);
}
static void sync_labelled(void) { LIOSYNC(memory[1]); }
static void barrier_labelled(void) { LIOBARRIER(); }
static void barrier_behind_sync_labelled(void) {
  LIOSYNC(memory[1]);
  LIOBARRIER();
}
static void put(void) {
  use();
  finish();
  use();
  finish();
}
static void remove_memory(void) { LIDEREGISTER(memory[0]); }
static void end(void) { LIEND(); }

static const struct {
  const char* name;
  void (*prepare)(void);
  void (*call)(void);
} kOfSupersteps[] = {
    {"LISYNC", use, sync},
    {"LIBARRIER", NULL, barrier},
    {"LISYNC, LIBARRIER", use, barrier_behind_sync},
    {"LIOSYNC", use_labelled, sync_labelled},
    {"LIOBARRIER", NULL, barrier_labelled},
    {"LIOSYNC, LIOBARRIER", use_labelled, barrier_behind_sync_labelled},
    {"LIPUT, LIGET", NULL, put},
};

int main(int argc, char** argv) {
  static const int kLengths[] = {8, 20000, 1 << 17};
  size_t i, l;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  wait_in_call("LIBEGIN", rank, NULL, begin);
  wait_in_call("LIREGISTER", rank, NULL, add);
  wait_in_call("LIINIT", rank, NULL, init);
  wait_in_call("LICOMMIT", rank, NULL, commit);
  wait_in_call("LIOREGISTER", rank, NULL, add_labelled);
  wait_in_call("LIOINIT", rank, NULL, init_labelled);
  wait_in_call("LIOCOMMIT", rank, NULL, commit_labelled);
  for (l = 0; l < sizeof(kLengths) / sizeof(kLengths[0]); ++l) {
    for (i = 0; i < sizeof(kOfSupersteps) / sizeof(kOfSupersteps[0]); ++i) {
      bytes = kLengths[l];
      wait_in_call(kOfSupersteps[i].name, rank, kOfSupersteps[i].prepare, kOfSupersteps[i].call);
    }
  }
  wait_in_call("LIDEREGISTER", rank, NULL, remove_memory);
  wait_in_call("LIEND", rank, NULL, end);
  if (rank == 0) printf("all calls\n");
  MPI_Finalize();
  return 0;
}
