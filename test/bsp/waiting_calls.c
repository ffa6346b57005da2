/* Every call of BSPlib that can wait, while a peer is in MPI_Send (test/support/wait_in_call.h). */

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "brigade/bsp.h"
#include "test/support/wait_in_call.h"

static int rank, bytes;
static char memory[1 << 20], sources[sizeof(memory)], results[sizeof(memory)];

static void begin(void) { bsp_begin(bsp_nprocs()); }
static void sync(void) { bsp_sync(); }
static void end(void) { bsp_end(); }

static void add(void) { bsp_push_reg(memory, sizeof(memory)); }
static void put(void) { bsp_put(1 - rank, sources, memory, 0, bytes); }
static void put_directly(void) { bsp_hpput(1 - rank, sources, memory, 0, bytes); }
static void get(void) { bsp_get(1 - rank, memory, 0, results, bytes); }
static void get_directly(void) { bsp_hpget(1 - rank, memory, 0, results, bytes); }
static void send(void) { bsp_send(1 - rank, NULL, sources, bytes); }
static void remove_memory(void) { bsp_pop_reg(memory); }

static const struct {
  const char* name;
  void (*prepare)(void);
} kInSuperstep[] = {
    {"bsp_sync", NULL},
    {"bsp_sync behind bsp_put", put},
    {"bsp_sync behind bsp_hpput", put_directly},
    {"bsp_sync behind bsp_get", get},
    {"bsp_sync behind bsp_hpget", get_directly},
    {"bsp_sync behind bsp_send", send},
};

int main(int argc, char** argv) {
  static const int kLengths[] = {8, 20000, 1 << 20};
  size_t i, l;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  wait_in_call("bsp_begin", rank, NULL, begin);
  wait_in_call("bsp_sync behind bsp_push_reg", rank, add, sync);
  for (l = 0; l < sizeof(kLengths) / sizeof(kLengths[0]); ++l) {
    for (i = 0; i < sizeof(kInSuperstep) / sizeof(kInSuperstep[0]); ++i) {
      bytes = kLengths[l];
      wait_in_call(kInSuperstep[i].name, rank, kInSuperstep[i].prepare, sync);
    }
  }
  wait_in_call("bsp_sync behind bsp_pop_reg", rank, remove_memory, sync);
  wait_in_call("bsp_end", rank, NULL, end);
  if (rank == 0) printf("all calls\n");
  MPI_Finalize();
  return 0;
}
