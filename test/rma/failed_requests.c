/* A window breaks on rank 0 while rank 0 has three pending requests for rank 1. The error handler
   of the window tests one of the requests, waits for another, and waits for a thread that works
   with another window. Rank 0 prints PASS. Argument: the cause. */

#define _GNU_SOURCE /* kill */

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "test/rma/check.h"

enum { kWaitedFor, kTestedByHandler, kWaitedForByHandler, kRequests };

static int handled;
static MPI_Request requests[kRequests];
static MPI_Win beside; /* of this rank alone */

static void* use_window_beside(void* unused) {
  const int value = 7;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, beside);
  MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, beside);
  MPI_Win_unlock(0, beside);
  return unused;
}

/* Runs once for all three requests, which are complete by then. */
static void on_error(MPI_Win* win, int* error, ...) {
  int is_over = 0;
  (void)win;
  CHECK(++handled == 1);
  CHECK(class_of(*error) == MPI_ERR_OTHER);
  const int tested = MPI_Test(&requests[kTestedByHandler], &is_over, MPI_STATUS_IGNORE);
  CHECK(is_over && class_of(tested) == MPI_ERR_OTHER);
  CHECK(class_of(MPI_Wait(&requests[kWaitedForByHandler], MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  pthread_t other;
  CHECK(pthread_create(&other, NULL, use_window_beside, NULL) == 0);
  pthread_join(other, NULL);
}

/* Errors of requests go to MPI_COMM_WORLD, errors of the window to on_error. */
static void set_errhandlers(MPI_Win win) {
  MPI_Errhandler handler;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
}

/* Stops all threads of a process, so that it carries out no request. */
static void stop(pid_t process) {
  char name[64], state = '?';
  snprintf(name, sizeof(name), "/proc/%d/stat", (int)process);
  CHECK(kill(process, SIGSTOP) == 0);
  while (state != 'T') {
    FILE* const file = fopen(name, "r");
    CHECK(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
  }
}

/* Rank 1, which is `process`, is stopped while rank 0 starts the requests. `signal` ends the stop.
 */
static void fail_requests(MPI_Win win, MPI_Aint displacement, pid_t process, int signal) {
  int results[kRequests], any, is_over;
  set_errhandlers(win);
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  stop(process);
  for (int i = 0; i < kRequests; ++i) {
    CHECK(MPI_Rget(&results[i], 1, MPI_INT, 1, displacement, 1, MPI_INT, win, &requests[i]) ==
          MPI_SUCCESS);
  }
  MPI_Testany(kRequests, requests, &any, &is_over, MPI_STATUS_IGNORE);
  CHECK(!is_over && handled == 0);
  CHECK(kill(process, signal) == 0);
  CHECK(class_of(MPI_Wait(&requests[kWaitedFor], MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  CHECK(handled == 1);
  puts("PASS");
  fflush(stdout);
}

/* Rank 1 is killed. Rank 0 ends without MPI_Finalize, which would wait for rank 1. */
static void lost_target(pid_t process) {
  int memory = 1;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  while (rank != 0) pause();
  fail_requests(win, 0, process, SIGKILL);
  _exit(0);
}

/* Rank 1 finds that the requests are for memory that it has not attached. */
static void unattached_memory(pid_t process) {
  int memory = 1;
  MPI_Aint displacement;
  MPI_Win win;
  MPI_Get_address(&memory, &displacement);
  MPI_Bcast(&displacement, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (rank == 0) fail_requests(win, displacement, process, SIGCONT);
  MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(pid_t process);
} kCases[] = {{"lost_target", lost_target}, {"unattached_memory", unattached_memory}};

int main(int argc, char** argv) {
  int process = getpid(), level, *memory;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(argc == 2 && level == MPI_THREAD_MULTIPLE);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &beside);
  MPI_Bcast(&process, 1, MPI_INT, 1, MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(argv[1], kCases[i].name) != 0) continue;
    kCases[i].run(process);
    MPI_Win_free(&beside);
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
