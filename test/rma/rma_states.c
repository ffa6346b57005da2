/* Each synchronisation call of MPI in each state of a window. All ranks do the same, and rank 0
   prints a line per state: the calls that succeed; in parentheses those that would wait for ever.
   All others return MPI_ERR_RMA_SYNC, or the class that stands behind them. With a state and a call
   as arguments it prints the outcome of that one call, as the last thing that the job does.

   rma_states.txt has the lines of libbrigade_rma.so. Where Open MPI 4.1.4 and MPICH 4.0.2 return
   the same class, so does the library. Elsewhere a call that MPI-3.1, section 11.5, forbids returns
   MPI_ERR_RMA_SYNC, with three exceptions, which succeed as under Open MPI: MPI_Win_sync without a
   lock, and MPI_Win_post and MPI_Win_free after operations in the epoch of a fence. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, left, right;
static MPI_Win win;
static MPI_Group of_left, of_right;
static int* memory;

/* Epochs that successful calls have opened. */
static struct {
  int started, posted, is_owed; /* owed: left and right have not matched a post */
  int locked_left, locked_right, locked_all;
  int is_freed;
} now;

static const int kValue = 7;

static int put(int target) { return MPI_Put(&kValue, 1, MPI_INT, target, rank, 1, MPI_INT, win); }

/* --- states --- */

static void none(void) {}
static void fence(void) { MPI_Win_fence(0, win); }
static void fence_put(void) {
  fence();
  put(right);
}
static void last_fence(void) {
  fence();
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}
static void post(void) {
  MPI_Win_post(of_left, 0, win);
  now.posted = now.is_owed = 1;
}
static void start(void) {
  post();
  MPI_Win_start(of_right, 0, win);
  now.started = 1;
  now.is_owed = 0;
}
static void completed(void) {
  start();
  MPI_Win_complete(win);
  MPI_Barrier(MPI_COMM_WORLD);
  now.started = 0;
}
static void waited(void) {
  completed();
  MPI_Win_wait(win);
  now.posted = 0;
}
static void lock(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  now.locked_right = 1;
}
static void lock_unchecked(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOCHECK, win);
  now.locked_right = 1;
}
static void lock_all(void) {
  MPI_Win_lock_all(0, win);
  now.locked_all = 1;
}
static void lock_all_unchecked(void) {
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  now.locked_all = 1;
}
static void unlocked(void) {
  lock();
  MPI_Win_unlock(right, win);
  now.locked_right = 0;
}
static void fence_lock(void) {
  fence();
  lock();
}
static void fence_start(void) {
  fence();
  start();
}
static void post_lock(void) {
  post();
  lock();
}

static const struct {
  const char* name;
  void (*enter)(void);
} kStates[] = {{"none", none},
               {"fence", fence},
               {"fence_put", fence_put},
               {"last_fence", last_fence},
               {"post", post},
               {"start", start},
               {"completed", completed},
               {"waited", waited},
               {"lock", lock},
               {"lock_unchecked", lock_unchecked},
               {"lock_all", lock_all},
               {"lock_all_unchecked", lock_all_unchecked},
               {"unlocked", unlocked},
               {"fence_lock", fence_lock},
               {"fence_start", fence_start},
               {"post_lock", post_lock}};

/* --- calls --- */

static int call_fence(void) { return MPI_Win_fence(0, win); }
static int call_post(void) {
  const int error = MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  if (error == MPI_SUCCESS) now.posted = 1;
  return error;
}
static int call_start(void) {
  const int error = MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  if (error == MPI_SUCCESS) now.started = 1;
  return error;
}
static int call_complete(void) {
  const int error = MPI_Win_complete(win);
  if (error == MPI_SUCCESS) now.started = 0;
  return error;
}
static int call_wait(void) {
  const int error = MPI_Win_wait(win);
  if (error == MPI_SUCCESS) now.posted = 0;
  return error;
}
static int call_test(void) {
  int over = 0;
  const int error = MPI_Win_test(win, &over);
  if (error == MPI_SUCCESS && over) now.posted = 0;
  return error;
}
static int call_lock(void) {
  const int error = MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  if (error == MPI_SUCCESS) now.locked_right = 1;
  return error;
}
static int call_lock_left(void) {
  const int error = MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
  if (error == MPI_SUCCESS) now.locked_left = 1;
  return error;
}
static int call_unlock(void) {
  const int error = MPI_Win_unlock(right, win);
  if (error == MPI_SUCCESS) now.locked_right = 0;
  return error;
}
static int call_unlock_left(void) {
  const int error = MPI_Win_unlock(left, win);
  if (error == MPI_SUCCESS) now.locked_left = 0;
  return error;
}
static int call_lock_all(void) {
  const int error = MPI_Win_lock_all(0, win);
  if (error == MPI_SUCCESS) now.locked_all = 1;
  return error;
}
static int call_unlock_all(void) {
  const int error = MPI_Win_unlock_all(win);
  if (error == MPI_SUCCESS) now.locked_all = 0;
  return error;
}
static int call_flush(void) { return MPI_Win_flush(right, win); }
static int call_flush_left(void) { return MPI_Win_flush(left, win); }
static int call_flush_local(void) { return MPI_Win_flush_local(right, win); }
static int call_flush_all(void) { return MPI_Win_flush_all(win); }
static int call_flush_local_all(void) { return MPI_Win_flush_local_all(win); }
static int call_sync(void) { return MPI_Win_sync(win); }
static int call_put(void) { return put(right); }
static int call_put_left(void) { return put(left); }
static int call_rput(void) {
  MPI_Request request;
  const int error = MPI_Rput(&kValue, 1, MPI_INT, right, rank, 1, MPI_INT, win, &request);
  if (error == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return error;
}
static int call_free(void) {
  const int error = MPI_Win_free(&win);
  now.is_freed = error == MPI_SUCCESS;
  return error;
}

static const struct {
  const char* name;
  int (*make)(void);
} kCalls[] = {{"fence", call_fence},
              {"post", call_post},
              {"start", call_start},
              {"complete", call_complete},
              {"wait", call_wait},
              {"test", call_test},
              {"lock", call_lock},
              {"lock_left", call_lock_left},
              {"unlock", call_unlock},
              {"unlock_left", call_unlock_left},
              {"lock_all", call_lock_all},
              {"unlock_all", call_unlock_all},
              {"flush", call_flush},
              {"flush_left", call_flush_left},
              {"flush_local", call_flush_local},
              {"flush_all", call_flush_all},
              {"flush_local_all", call_flush_local_all},
              {"sync", call_sync},
              {"put", call_put},
              {"put_left", call_put_left},
              {"rput", call_rput},
              {"free", call_free}};

enum {
  kStateCount = sizeof(kStates) / sizeof(kStates[0]),
  kCallCount = sizeof(kCalls) / sizeof(kCalls[0])
};

static int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

/* All ranks would wait for each other. */
static int blocks(int call) {
  return kCalls[call].make == call_wait && now.is_owed + now.started > 0;
}

static void enter(int state) {
  memset(&now, 0, sizeof(now));
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  kStates[state].enter();
}

static void leave(void) {
  if (now.is_freed) return;
  if (now.locked_left) MPI_Win_unlock(left, win);
  if (now.locked_right) MPI_Win_unlock(right, win);
  if (now.locked_all) MPI_Win_unlock_all(win);
  if (now.started) MPI_Win_complete(win);
  if (now.is_owed) {
    MPI_Win_start(of_right, 0, win);
    MPI_Win_complete(win);
  }
  if (now.posted) MPI_Win_wait(win);
  MPI_Win_free(&win);
}

static void print_table(void) {
  for (int state = 0; state < kStateCount; ++state) {
    if (rank == 0) printf("%s:", kStates[state].name);
    for (int call = 0; call < kCallCount; ++call) {
      enter(state);
      const char* name = kCalls[call].name;
      if (blocks(call)) {
        if (rank == 0) printf(" (%s)", name);
      } else {
        const int class = class_of(kCalls[call].make());
        if (rank == 0 && class == MPI_SUCCESS) printf(" %s", name);
        if (rank == 0 && class != MPI_SUCCESS && class != MPI_ERR_RMA_SYNC) {
          printf(" %s=%d", name, class);
        }
      }
      leave();
    }
    if (rank == 0) printf("\n");
  }
}

static int print_one(const char* state_name, const char* call_name) {
  int state = 0, call = 0;
  while (state < kStateCount && strcmp(kStates[state].name, state_name) != 0) ++state;
  while (call < kCallCount && strcmp(kCalls[call].name, call_name) != 0) ++call;
  if (state == kStateCount || call == kCallCount) return 2;
  enter(state);
  const int class = blocks(call) ? -1 : class_of(kCalls[call].make());
  const char* found = class == -1                 ? "waits"
                      : class == MPI_SUCCESS      ? "succeeds"
                      : class == MPI_ERR_RMA_SYNC ? "MPI_ERR_RMA_SYNC"
                                                  : "fails otherwise";
  if (rank == 0) printf("%s, %s: %s\n", state_name, call_name, found);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Abort(MPI_COMM_WORLD, 0);
  return 0;
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &left, &of_left);
  MPI_Group_incl(all, 1, &right, &of_right);
  MPI_Group_free(&all);
  if (argc == 3) return print_one(argv[1], argv[2]);
  print_table();
  MPI_Group_free(&of_left);
  MPI_Group_free(&of_right);
  MPI_Finalize();
  return 0;
}
