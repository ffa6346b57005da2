/* Calls that the BLACS make locally blocking, or local: rank 0 makes each of them while rank 1 is
   inside MPI and makes no call of the BLACS. It ends if none of them waits for rank 1. On two
   ranks. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "brigade/blacs_mpi.h"

enum { kLong = 1 << 15 };

static double data[kLong];

static int new_grid(void) {
  int context;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, 2);
  return context;
}

static void call_all(int context, int ended) {
  int values[4];
  Cblacs_pinfo(&values[0], &values[1]);
  Cblacs_setup(&values[0], &values[1]);
  Cblacs_get(context, 11, values);
  values[0] = 2;
  Cblacs_set(context, 11, values);
  Cblacs_gridinfo(context, &values[0], &values[1], &values[2], &values[3]);
  Cblacs_pcoord(context, Cblacs_pnum(context, 0, 1), &values[0], &values[1]);
  Ckbsid(context, "All");
  Cblacs_freebuff(context, 0);
  const int handle = Csys2blacs_handle(MPI_COMM_SELF);
  int own = handle;
  Cblacs_gridinit(&own, "Row", 1, 1); /* of this rank alone */
  Cblacs_barrier(own, "All");
  Cblacs_gridexit(own);
  Cfree_blacs_system_handle(handle);
  Cdgesd2d(context, 1, 1, data, 1, 0, 1);
  Cdgesd2d(context, kLong, 1, data, kLong, 0, 1);
  Cdtrsd2d(context, "Upper", "Non-unit", 4, 4, data, 4, 0, 1);
  Cdgebs2d(context, "All", " ", 1, 1, data, 1);
  Cdgebs2d(context, "Row", "I", kLong, 1, data, kLong);
  Cdgesd2d(ended, 1, 1, data, 1, 0, 1);
  Cblacs_gridexit(ended);
}

static void receive_all(int context, int ended) {
  Cdgerv2d(context, 1, 1, data, 1, 0, 0);
  Cdgerv2d(context, kLong, 1, data, kLong, 0, 0);
  Cdtrrv2d(context, "Upper", "Non-unit", 4, 4, data, 4, 0, 0);
  Cdgebr2d(context, "All", " ", 1, 1, data, 1, 0, 0);
  Cdgebr2d(context, "Row", "I", kLong, 1, data, kLong, 0, 0);
  Cdgerv2d(ended, 1, 1, data, 1, 0, 0);
  Cblacs_gridexit(ended);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int context = new_grid(), ended = new_grid();
  /* Once as the first calls of the grid, and once when its ways are open. */
  for (int turn = 0; turn < 2; ++turn) {
    const int other = turn == 0 ? ended : new_grid();
    if (rank == 0) {
      call_all(context, other);
      MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      receive_all(context, other);
    }
  }
  Cblacs_gridexit(context);
  Cblacs_exit(0);
  puts("done");
  return 0;
}
