/* The C interface in a job of MPI: engines, groups, every call, and failures. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/brigade.h"
#include "test/api/every_call.h"
#include "test/api/every_group.h"

static int me, size;

/* The timeline that this process has left for `file`, removed; "" if there is none. */
static const char* take_trace(const char* file) {
  static char text[1 << 20];
  char part[4200];
  size_t bytes = 0;
  FILE* in;
  snprintf(part, sizeof(part), "%s.%d", file, me);
  in = fopen(part, "r");
  if (in != NULL) {
    bytes = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    remove(part);
  }
  text[bytes] = '\0';
  return text;
}

static void check(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s: %s\n", me, what, brigade_error_text());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int occurrences(FILE* file, const char* text) {
  char line[4096];
  int count = 0;
  rewind(file);
  while (fgets(line, sizeof(line), file) != NULL) count += strstr(line, text) != NULL;
  return count;
}

/* With the least staging memory, of which a started receive would find none. */
static void check_least_budget(const char* refusal) {
  brigade_options options = brigade_options_init();
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  const char* least = strstr(refusal, "at least ");
  static double out[100000];
  static double in[100000];
  brigade_matrix sent = {out, 100000, 1, 0};
  brigade_matrix received = {in, 100000, 1, 0};
  int me;
  int size;

  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(least != NULL, "error text names the minimum");
  if (least == NULL) return;
  options.staging_bytes = strtoull(least + strlen("at least "), NULL, 10);
  check(brigade_engine_create(&options, &engine) == BRIGADE_OK, "the least budget");
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group) == BRIGADE_OK,
        "a group with it");
  out[0] = out[99999] = me + 1;
  check(brigade_sendrecv(group, &sent, (me + 1) % size, &received, (me + size - 1) % size,
                         BRIGADE_DOUBLE, NULL) == BRIGADE_OK,
        "sendrecv with it");
  check(in[0] == (me + size - 1) % size + 1 && in[99999] == in[0], "its data");
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
}

/* The all-gather of a bootstrap. `context` counts the calls. */
static int gather(const void* mine, void* all, size_t bytes, void* context) {
  ++*(int*)context;
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static int do_not_gather(const void* mine, void* all, size_t bytes, void* context) {
  (void)mine, (void)all, (void)bytes, (void)context;
  return 42;
}

/* A group of the ranks that the program's function connects. */
static void check_callback(void) {
  brigade_options options = brigade_options_init();
  brigade_engine* engine = NULL;
  brigade_bootstrap* bootstrap = NULL;
  brigade_group* group = NULL;
  double sum = 1;
  brigade_matrix matrix = {NULL, 1, 1, 0};
  int calls = 0;

  matrix.data = &sum;
  options.transport = "shm";
  check(brigade_engine_create(&options, &engine) == BRIGADE_OK, "engine");
  check(brigade_bootstrap_callback(NULL, NULL, me, size, &bootstrap) == BRIGADE_INVALID_ARGUMENT,
        "no function");
  check(brigade_bootstrap_callback(gather, &calls, size, size, &bootstrap) ==
            BRIGADE_INVALID_ARGUMENT,
        "a rank that is none");
  check(brigade_bootstrap_callback(do_not_gather, NULL, me, size, &bootstrap) == BRIGADE_OK,
        "a function that fails");
  check(brigade_group_from_bootstrap(engine, bootstrap, 1, size, &group) == BRIGADE_INTERNAL,
        "the function has failed");
  check(strstr(brigade_error_text(), "returned 42") != NULL && group == NULL, "its value");
  brigade_bootstrap_destroy(bootstrap);
  check(brigade_bootstrap_callback(gather, &calls, me, size, &bootstrap) == BRIGADE_OK,
        "bootstrap");
  check(calls == 0, "a bootstrap is made locally");
  check(brigade_group_from_bootstrap(engine, bootstrap, 1, size, &group) == BRIGADE_OK, "group");
  check(calls > 0, "the function was called");
  brigade_bootstrap_destroy(bootstrap);
  check(brigade_allreduce(group, NULL, &matrix, BRIGADE_DOUBLE, BRIGADE_SUM, NULL) == BRIGADE_OK &&
            sum == size,
        "a sum");
  check(every_group(group) == 0, "groups of a group by a callback");
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
}

/* Calls in which rank 0 waits for other ranks. */
enum { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kGather, kRecv, kWaiting };
static const char* const waiting_names[] = {"barrier",   "bcast",  "reduce", "allreduce",
                                            "allgather", "gather", "recv"};

static brigade_status run_waiting(int which, brigade_group* group,
                                  const brigade_call_options* within) {
  static double numbers[64];
  brigade_matrix one = {NULL, 1, 1, 0}, all = {NULL, 1, 1, 0};
  one.data = &numbers[0];
  all.data = numbers;
  all.cols = size;
  switch (which) {
    case kBarrier:
      return brigade_barrier(group, within);
    case kBcast:
      return brigade_bcast(group, &one, BRIGADE_DOUBLE, size - 1, within);
    case kReduce:
      return brigade_reduce(group, NULL, &one, BRIGADE_DOUBLE, BRIGADE_SUM, 0, within);
    case kAllreduce:
      return brigade_allreduce(group, NULL, &one, BRIGADE_DOUBLE, BRIGADE_SUM, within);
    case kAllgather:
      return brigade_allgather(group, NULL, &all, BRIGADE_DOUBLE, within);
    case kGather:
      return brigade_gather(group, NULL, &all, BRIGADE_DOUBLE, 0, within);
    default:
      return brigade_recv(group, &one, BRIGADE_DOUBLE, size - 1, within);
  }
}

/* A call of rank 0 that takes too long breaks the group: all ranks get the call as data. */
static void check_failed_calls(brigade_engine* engine, brigade_group* group) {
  brigade_call_options within = brigade_call_options_init();
  brigade_failure failure = brigade_failure_init();
  brigade_group* duplicate = NULL;
  int which;

  within.timeout_seconds = 0.1;
  for (which = 0; which < kWaiting; ++which) {
    check(brigade_group_duplicate(group, &duplicate) == BRIGADE_OK, "duplicate");
    if (me == 0) {
      check(run_waiting(which, duplicate, &within) == BRIGADE_TIMED_OUT, waiting_names[which]);
    }
    while (brigade_group_error(duplicate) == BRIGADE_OK) brigade_progress(engine);
    check(brigade_group_failure(duplicate, &failure) == BRIGADE_TIMED_OUT, "the failure as data");
    check(failure.status == BRIGADE_TIMED_OUT && failure.rank == 0 &&
              strcmp(failure.call, waiting_names[which]) == 0 && failure.number == 0,
          waiting_names[which]);
    brigade_group_destroy(duplicate);
  }

  check(brigade_group_duplicate(group, &duplicate) == BRIGADE_OK, "duplicate");
  check(run_waiting(me == 0 ? kBarrier : kAllgather, duplicate, NULL) == BRIGADE_MISMATCH,
        "different calls");
  check(brigade_group_failure(duplicate, &failure) == BRIGADE_MISMATCH, "the mismatch as data");
  check(failure.status == BRIGADE_MISMATCH && failure.rank >= 0 && failure.rank < size &&
            strcmp(failure.call, waiting_names[failure.rank == 0 ? kBarrier : kAllgather]) == 0,
        "the call that did not match");
  brigade_group_destroy(duplicate);
  check(brigade_group_error(group) == BRIGADE_OK, "the parent is not broken");
}

int main(int argc, char** argv) {
  char trace_file[4096];
  char warnings[4096];
  char version[64];
  brigade_options options = brigade_options_init();
  brigade_failure failure = brigade_failure_init();
  brigade_call_options within = brigade_call_options_init();
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  const char* text;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* Rank 0 alone says that BRIGADE_IFCAE is misspelt. */
  snprintf(warnings, sizeof(warnings), "%s/warnings.%d", getenv("TMPDIR"), me);
  check(freopen(warnings, "w+", stderr) != NULL, "stderr to a file");

  check(brigade_version_number() == BRIGADE_VERSION_NUMBER, "version");
  snprintf(version, sizeof(version), "%d.%d.%d", BRIGADE_VERSION_MAJOR, BRIGADE_VERSION_MINOR,
           BRIGADE_VERSION_PATCH);
  check(strcmp(brigade_version(), version) == 0, "version as text");
  options.staging_bytes = 64;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "a budget of 64");
  check(strstr(brigade_error_text(), "64") != NULL, "error text names the value");
  check_least_budget(brigade_error_text());
  options.transport = "carrier pigeon";
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "transport");
  options = brigade_options_init();
  options.explain = (brigade_switch)3;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "a switch");
  check(strstr(brigade_error_text(), "explain has no value 3") != NULL, "which switch");
  options = brigade_options_init();
  options.overflow_wait_seconds = -1;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "a negative wait");
  check(strstr(brigade_error_text(), "overflow_wait_seconds is -1") != NULL, "which wait");
  options = brigade_options_init();
  options.staging_bytes = SIZE_MAX;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "a budget too large");
  options.size = 0;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "no size");
  check(strstr(brigade_error_text(), "brigade_options_init()") != NULL, "which initialiser");
  options = brigade_options_init();
  snprintf(trace_file, sizeof(trace_file), "%s/brigade_c_test", getenv("TMPDIR"));
  options.trace_file = trace_file;
  check(brigade_engine_create(&options, &engine) == BRIGADE_OK, "engine");
  check(occurrences(stderr, "BRIGADE_IFCAE is set") == (me == 0), "a misspelt variable");
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 2, size, &group) ==
            BRIGADE_INVALID_ARGUMENT,
        "a grid that does not fit");
  check(brigade_group_from_mpi(engine, 99999, 1, size, &group) == BRIGADE_INVALID_ARGUMENT,
        "a handle that is none");
  check(brigade_group_from_mpi(NULL, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group) ==
            BRIGADE_INVALID_ARGUMENT,
        "no engine");
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group) == BRIGADE_OK,
        "group");
  check(brigade_scope_size(group, BRIGADE_ALL) == size, "size");
  check(brigade_scope_rank(group, BRIGADE_ROW) == me, "rank");
  check(brigade_scope_size(group, (brigade_scope)3) == -1, "size of no scope");
  check(brigade_scope_rank(group, (brigade_scope)-1) == -1, "rank in none");
  check(brigade_scope_size(NULL, BRIGADE_ALL) == -1, "size of no group");

  check_callback();
  check(every_call(engine, group) == 0, "every call");
  check(every_group(group) == 0, "groups of the group");
  check_failed_calls(engine, group);

  /* One rank gives up: all detect it, whether they wait in a call or poll. */
  check(brigade_group_error(group) == BRIGADE_OK, "no error yet");
  check(brigade_group_failure(group, &failure) == BRIGADE_OK && failure.status == BRIGADE_OK &&
            failure.rank == -1,
        "no failure yet");
  MPI_Barrier(MPI_COMM_WORLD);
  within.timeout_seconds = 100;
  if (me == size - 1) {
    brigade_group_abort(group, "enough");
  } else if (me == 0) {
    check(brigade_barrier(group, &within) == BRIGADE_ABORTED, "ended by another rank");
  }
  while (brigade_group_error(group) == BRIGADE_OK) brigade_progress(engine);
  check(brigade_group_error(group) == BRIGADE_ABORTED, "aborted");
  check(strstr(brigade_error_text(), "aborted it: enough") != NULL, "who and why");
  check(brigade_group_failure(group, &failure) == BRIGADE_ABORTED, "the failure as data");
  check(failure.status == BRIGADE_ABORTED && failure.rank == size - 1 && failure.call[0] == '\0',
        "who");

  brigade_group_destroy(group);
  check(take_trace(trace_file)[0] == '\0', "no trace yet");
  brigade_engine_destroy(engine);
  text = take_trace(trace_file);
  check(strstr(text, "\"copy out\"") != NULL, "copies are traced");
  check(strstr(text, "\"combine\"") != NULL, "combines are traced");

  /* No trace unless it is requested. */
  check(brigade_engine_create(NULL, &engine) == BRIGADE_OK, "engine without options");
  brigade_engine_destroy(engine);
  check(take_trace(trace_file)[0] == '\0', "no trace of another engine");
  MPI_Finalize();
  return 0;
}
