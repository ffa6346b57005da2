/* Requests of a window end although the program only looks at them, by calls of MPI 4.1. An MPI
   that is older has nothing to test. */

#define _GNU_SOURCE /* setenv */

#include <mpi.h>
#include <stdlib.h>

#include "test/rma/check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { kRequests = 3 };

static int look_at_any(const MPI_Request requests[]) {
  int index, is_over;
  MPI_Request_get_status_any(kRequests, requests, &index, &is_over, MPI_STATUS_IGNORE);
  return is_over;
}

static int look_at_all(const MPI_Request requests[]) {
  int is_over;
  MPI_Request_get_status_all(kRequests, requests, &is_over, MPI_STATUSES_IGNORE);
  return is_over;
}

static int look_at_some(const MPI_Request requests[]) {
  int done, indices[kRequests];
  MPI_Request_get_status_some(kRequests, requests, &done, indices, MPI_STATUSES_IGNORE);
  return done > 0;
}

static void look_until_over(MPI_Win win) {
  int (*const looks[])(const MPI_Request[]) = {look_at_any, look_at_all, look_at_some};
  for (int i = 0; i < 3; ++i) {
    int got[kRequests];
    MPI_Request requests[kRequests];
    for (int r = 0; r < kRequests; ++r) {
      MPI_Rget(&got[r], 1, MPI_INT, 0, 0, 1, MPI_INT, win, &requests[r]);
    }
    while (!looks[i](requests)) continue;
    MPI_Waitall(kRequests, requests, MPI_STATUSES_IGNORE);
    CHECK(got[0] == 5);
  }
}
#else
static void look_until_over(MPI_Win win) { (void)win; }
#endif

int main(int argc, char** argv) {
  int* memory;
  MPI_Win win;
  setenv("BRIGADE_TEST_BY_MESSAGES", "1", 1); /* or gets are over at once */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 5;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  look_until_over(win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
