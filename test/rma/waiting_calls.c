/* Every call on windows that can wait, while a peer is in MPI_Send (test/support/wait_in_call.h).
     waiting_calls LEVEL    the level of threads that MPI_Init_thread gets
   Where another thread than the main one may call, one does. */

#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/wait_in_call.h"

static int rank;
static MPI_Group other;
static MPI_Win win;
static volatile long* memory; /* of the window: two numbers */
static long zero, one = 1, number;
static char some[1 << 20];

static void check(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void with_window(void) {
  void* base;
  MPI_Win_allocate(2 * sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memory = base;
  memory[0] = memory[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void without_window(void) { MPI_Win_free(&win); }

/* --- making and freeing: collective --- */

static void create(void) {
  MPI_Win_create(some, sizeof(some), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}
static void allocate(void) {
  void* base;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
}
static void allocate_shared(void) {
  void* base;
  MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
}
static void create_dynamic(void) { MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win); }

/* --- fences, and post and start --- */

static void with_epoch(void) {
  with_window();
  MPI_Win_fence(0, win);
}
static void fence(void) { MPI_Win_fence(MPI_MODE_NOSUCCEED, win); }
static void fence_behind_put(void) {
  if (rank == 0) MPI_Put(&one, sizeof(one), MPI_BYTE, 1, 0, sizeof(one), MPI_BYTE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  check(memory[0] == rank, "the put");
}

static void access(void) {
  MPI_Win_start(other, 0, win);
  MPI_Put(&one, sizeof(one), MPI_BYTE, 1 - rank, 0, sizeof(one), MPI_BYTE, win);
  MPI_Win_complete(win);
}
static void expose(void) {
  MPI_Win_post(other, 0, win);
  MPI_Win_wait(win);
  check(memory[0] == 1, "the put");
}
static void start(void) { rank == 0 ? access() : expose(); }
static void wait_for_access(void) { rank == 0 ? expose() : access(); }
static void test_for_access(void) {
  int is_over = 0;
  if (rank == 1) return access();
  MPI_Win_post(other, 0, win);
  while (!is_over) MPI_Win_test(win, &is_over);
}

/* --- locks --- */

static void held_at_other(void) {
  with_window();
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void held_at_self(void) {
  with_window();
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void lock(int type, int target) {
  if (rank == 1) {
    MPI_Win_unlock(target, win);
    return;
  }
  MPI_Win_lock(type, target, 0, win);
  MPI_Put(&one, sizeof(one), MPI_BYTE, 1, 0, sizeof(one), MPI_BYTE, win);
  if (target == 1) MPI_Win_flush(1, win);
  MPI_Win_unlock(target, win);
}
static void lock_other(void) { lock(MPI_LOCK_EXCLUSIVE, 1); }
static void lock_shared(void) { lock(MPI_LOCK_SHARED, 1); }
static void lock_self(void) {
  if (rank == 1) {
    MPI_Win_unlock(0, win);
    return;
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Win_unlock(0, win);
}
static void lock_all(void) {
  if (rank == 1) {
    MPI_Win_unlock(1, win);
    return;
  }
  MPI_Win_lock_all(0, win);
  MPI_Get(&number, sizeof(number), MPI_BYTE, 1, 0, sizeof(number), MPI_BYTE, win);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
}

/* --- calls that wait for nothing, repeated until the other rank has written to its memory, or to
 * this rank's --- */

static void all_locked(void) {
  with_window();
  MPI_Win_lock_all(0, win);
}
static void write_to(int target) {
  MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_REPLACE, win);
  MPI_Win_flush(target, win);
}
static void sync_until(void) {
  if (rank == 1) write_to(0);
  while (rank == 0 && memory[0] == 0) MPI_Win_sync(win);
  MPI_Win_unlock_all(win);
}
static void fetch_until(void) {
  if (rank == 1) write_to(1);
  for (number = 0; rank == 0 && number == 0;) {
    MPI_Fetch_and_op(&zero, &number, MPI_LONG, 1, 0, MPI_NO_OP, win);
    MPI_Win_flush(1, win);
  }
  MPI_Win_unlock_all(win);
}
static void get_until(void) {
  if (rank == 1) write_to(1);
  for (number = 0; rank == 0 && number == 0;) {
    MPI_Get(&number, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_flush_local_all(win);
  }
  MPI_Win_unlock_all(win);
}
static void swap_until(void) {
  if (rank == 1) write_to(1);
  for (number = 0; rank == 0 && number == 0;) {
    MPI_Compare_and_swap(&zero, &zero, &number, MPI_LONG, 1, 0, win);
    MPI_Win_flush_local(1, win);
  }
  MPI_Win_unlock_all(win);
}
static void lock_until(void) {
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    write_to(1);
    MPI_Win_unlock(1, win);
  }
  for (number = 0; rank == 0 && number == 0;) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Get(&number, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(1, win);
  }
}
static void wait_one(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }
static void wait_any(MPI_Request* request) {
  int index;
  MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
}
static void wait_all(MPI_Request* request) {
  MPI_Status status;
  MPI_Waitall(1, request, &status);
}
static void wait_some(MPI_Request* request) {
  int count, index;
  MPI_Status status;
  MPI_Waitsome(1, request, &count, &index, &status);
}
static void test_one(MPI_Request* request) {
  int is_over = 0;
  while (!is_over) MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
}
static void request_until(void (*wait_for)(MPI_Request* request)) {
  if (rank == 1) write_to(1);
  for (number = 0; rank == 0 && number == 0;) {
    MPI_Request request;
    MPI_Rget(&number, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win, &request);
    wait_for(&request);
  }
  MPI_Win_unlock_all(win);
}
static void wait_until(void) { request_until(wait_one); }
static void wait_any_until(void) { request_until(wait_any); }
static void wait_all_until(void) { request_until(wait_all); }
static void wait_some_until(void) { request_until(wait_some); }
static void test_until(void) { request_until(test_one); }

/* --- beside a window that may be left to MPI, of which rank 1 unlocks what is rank 0's --- */

static MPI_Win beside;

static void with_two_windows(void) {
  void* base;
  with_window();
  MPI_Win_allocate_shared(sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &beside);
}
static void free_while_locked(void) {
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, beside);
    MPI_Put(&one, sizeof(one), MPI_BYTE, 0, 0, sizeof(one), MPI_BYTE, beside);
    MPI_Win_unlock(0, beside);
  }
  MPI_Win_free(&win);
}
static void free_other(void) { MPI_Win_free(&beside); }

static const struct {
  const char* name;
  void (*prepare)(void);
  void (*call)(void);
  void (*end)(void);
} kCalls[] = {
    {"MPI_Win_create", NULL, create, without_window},
    {"MPI_Win_allocate", NULL, allocate, without_window},
    {"MPI_Win_allocate_shared", NULL, allocate_shared, without_window},
    {"MPI_Win_create_dynamic", NULL, create_dynamic, without_window},
    {"MPI_Win_free", with_window, without_window, NULL},
    {"MPI_Win_fence", with_epoch, fence, without_window},
    {"MPI_Win_fence behind MPI_Put", with_epoch, fence_behind_put, without_window},
    {"MPI_Win_start, MPI_Win_complete", with_window, start, without_window},
    {"MPI_Win_wait", with_window, wait_for_access, without_window},
    {"MPI_Win_test", with_window, test_for_access, without_window},
    {"MPI_Win_lock", held_at_other, lock_other, without_window},
    {"MPI_Win_lock, shared", held_at_other, lock_shared, without_window},
    {"MPI_Win_lock of its own memory", held_at_self, lock_self, without_window},
    {"MPI_Win_lock_all", held_at_other, lock_all, without_window},
    {"MPI_Win_lock, MPI_Win_unlock, repeated", with_window, lock_until, without_window},
    {"MPI_Win_sync, repeated", all_locked, sync_until, without_window},
    {"MPI_Win_flush, repeated", all_locked, fetch_until, without_window},
    {"MPI_Win_flush_local, repeated", all_locked, swap_until, without_window},
    {"MPI_Win_flush_local_all, repeated", all_locked, get_until, without_window},
    {"MPI_Wait of MPI_Rget, repeated", all_locked, wait_until, without_window},
    {"MPI_Waitany of MPI_Rget, repeated", all_locked, wait_any_until, without_window},
    {"MPI_Waitall of MPI_Rget, repeated", all_locked, wait_all_until, without_window},
    {"MPI_Waitsome of MPI_Rget, repeated", all_locked, wait_some_until, without_window},
    {"MPI_Test of MPI_Rget, repeated", all_locked, test_until, without_window},
    {"MPI_Win_free beside another window", with_two_windows, free_while_locked, free_other},
};

static void* call_all(void* nothing) {
  size_t i;
  for (i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); ++i) {
    wait_in_call(kCalls[i].name, rank, kCalls[i].prepare, kCalls[i].call);
    if (kCalls[i].end != NULL) kCalls[i].end();
  }
  return nothing;
}

int main(int argc, char** argv) {
  static const char* const kLevels[] = {"single", "funneled", "serialized", "multiple"};
  static const int kLevelsOfMpi[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                     MPI_THREAD_MULTIPLE};
  int level = 0, given, other_rank;
  MPI_Group all;
  while (argc > 1 && level < 3 && strcmp(argv[1], kLevels[level]) != 0) ++level;
  MPI_Init_thread(&argc, &argv, kLevelsOfMpi[level], &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(given >= kLevelsOfMpi[level], "MPI has no such level");
  other_rank = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other_rank, &other);
  if (level < 2) {
    call_all(NULL);
  } else {
    pthread_t thread;
    check(pthread_create(&thread, NULL, call_all, NULL) == 0, "a thread");
    pthread_join(thread, NULL);
  }
  if (rank == 0) printf("all calls\n");
  MPI_Finalize();
  return 0;
}
