/* Requests of a window end although the program only looks at them, by calls of MPI 4.1. The
   library has these calls also for an older MPI, whose programs find them by name. */

#define _GNU_SOURCE /* setenv, RTLD_DEFAULT */

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "test/rma/check.h"

enum { kRequests = 3 };

static void* function(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  CHECK(found != NULL);
  return found;
}

static int look_at_any(const MPI_Request requests[]) {
  int (*const look)(int, const MPI_Request[], int*, int*, MPI_Status*) = (int (*)(
      int, const MPI_Request[], int*, int*, MPI_Status*))function("MPI_Request_get_status_any");
  int index, is_over;
  CHECK(look(kRequests, requests, &index, &is_over, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(!is_over || index != 0);
  return is_over;
}

static int look_at_all(const MPI_Request requests[]) {
  int (*const look)(int, const MPI_Request[], int*, MPI_Status[]) =
      (int (*)(int, const MPI_Request[], int*, MPI_Status[]))function("MPI_Request_get_status_all");
  MPI_Status statuses[kRequests];
  int is_over;
  CHECK(look(kRequests, requests, &is_over, statuses) == MPI_SUCCESS);
  return is_over;
}

static int look_at_some(const MPI_Request requests[]) {
  int (*const look)(int, const MPI_Request[], int*, int[], MPI_Status[]) = (int (*)(
      int, const MPI_Request[], int*, int[], MPI_Status[]))function("MPI_Request_get_status_some");
  MPI_Status statuses[kRequests];
  int done, indices[kRequests];
  CHECK(look(kRequests, requests, &done, indices, statuses) == MPI_SUCCESS);
  CHECK(done <= 0 || indices[0] != 0);
  return done != 0; /* MPI_UNDEFINED: all are null */
}

static void look_until_over(MPI_Win win) {
  int (*const looks[])(const MPI_Request[]) = {look_at_any, look_at_all, look_at_some};
  for (int i = 0; i < 3; ++i) {
    int got[kRequests];
    MPI_Request requests[kRequests] = {MPI_REQUEST_NULL};
    for (int r = 1; r < kRequests; ++r) {
      MPI_Rget(&got[r], 1, MPI_INT, 0, 0, 1, MPI_INT, win, &requests[r]);
    }
    while (!looks[i](requests)) continue;
    MPI_Waitall(kRequests, requests, MPI_STATUSES_IGNORE);
    CHECK(got[1] == 5);
    CHECK(looks[i](requests));
  }
}

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
