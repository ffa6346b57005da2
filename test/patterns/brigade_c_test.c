/* brigade.h proved usable from C: every call of it, on the ranks of MPI_COMM_WORLD. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/brigade.h"

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

static void run(brigade_group* group, const brigade_call* call, const char* what) {
  brigade_statistics statistics;
  check(brigade_run(group, call, &statistics) == BRIGADE_OK, what);
}

int main(int argc, char** argv) {
  enum { kRows = 30, kCols = 400, kLd = 32 };
  static double a[kLd * kCols];
  char trace_file[4096];
  char warnings[4096];
  brigade_options options;
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  brigade_operation* operation = NULL;
  brigade_call call;
  brigade_matrix portions[64];
  const char* text;
  double* panel;
  int32_t location;
  int i, j, q;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* Rank 0 alone says that BRIGADE_IFCAE is misspelt. */
  snprintf(warnings, sizeof(warnings), "%s/warnings.%d", getenv("TMPDIR"), me);
  check(freopen(warnings, "w+", stderr) != NULL, "stderr to a file");

  brigade_options_init(&options);
  options.staging_bytes = 64;
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "a budget of 64");
  check(strstr(brigade_error_text(), "64") != NULL, "error text names the value");
  options.transport = "carrier pigeon";
  check(brigade_engine_create(&options, &engine) == BRIGADE_INVALID_ARGUMENT, "transport");
  brigade_options_init(&options);
  snprintf(trace_file, sizeof(trace_file), "%s/brigade_c_test", getenv("TMPDIR"));
  options.trace_file = trace_file;
  check(brigade_engine_create(&options, &engine) == BRIGADE_OK, "engine");
  check(occurrences(stderr, "BRIGADE_IFCAE is set") == (me == 0), "a misspelt variable");
  check(brigade_group_create(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 2, size, &group) ==
            BRIGADE_INVALID_ARGUMENT,
        "a grid that does not fit");
  check(brigade_group_create(engine, 99999, 1, size, &group) == BRIGADE_INVALID_ARGUMENT,
        "a handle that is none");
  check(brigade_group_create(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group) == BRIGADE_OK,
        "group");
  check(brigade_scope_size(group, BRIGADE_ALL) == size, "size");
  check(brigade_scope_rank(group, BRIGADE_ROW) == me, "rank");
  check(brigade_scope_size(group, (brigade_scope)0) == size, "size of the scope that 0 means");
  check(brigade_scope_rank(group, (brigade_scope)0) == me, "rank in it");
  check(brigade_scope_size(group, (brigade_scope)4) == -1, "size of no scope");
  check(brigade_scope_rank(group, (brigade_scope)-1) == -1, "rank in none");

  /* Broadcast of a strided matrix; the gaps stay. */
  for (i = 0; i < kLd * kCols; ++i) a[i] = me == 1 ? i : -1;
  memset(&call, 0, sizeof(call));
  call.pattern = BRIGADE_BROADCAST;
  call.root = 1;
  call.matrix.data = a;
  call.matrix.rows = kRows;
  call.matrix.cols = kCols;
  call.matrix.ld = kLd;
  run(group, &call, "broadcast");
  for (j = 0; j < kCols; ++j) {
    for (i = 0; i < kLd; ++i) {
      check(a[j * kLd + i] == (i < kRows || me == 1 ? j * kLd + i : -1), "broadcast data");
    }
  }

  /* Sums, started and waited for. */
  call.pattern = BRIGADE_ALL_REDUCE;
  for (call.shape = BRIGADE_HYPERCUBE; call.shape <= BRIGADE_DEALT; ++call.shape) {
    for (i = 0; i < kLd * kCols; ++i) a[i] = i + me;
    check(brigade_start(group, &call, &operation) == BRIGADE_OK, "start");
    while (!brigade_test(operation)) brigade_progress(engine);
    check(brigade_wait(operation, NULL) == BRIGADE_OK, "wait");
    check(a[5] == 5.0 * size + size * (size - 1) / 2, "sum");
  }

  /* Long enough to be cut. */
  {
    static double wide[3000];
    call.pattern = BRIGADE_BROADCAST;
    call.matrix.data = wide;
    call.matrix.rows = 3000;
    call.matrix.cols = 1;
    call.matrix.ld = 0;
    for (call.shape = BRIGADE_TWO_TREE; call.shape <= BRIGADE_CIRCULANT; ++call.shape) {
      for (i = 0; i < 3000; ++i) wide[i] = me == call.root ? i + (int)call.shape : -1;
      run(group, &call, "broadcast of shares");
      for (i = 0; i < 3000; ++i) check(wide[i] == i + (int)call.shape, "data of shares");
    }
    call.matrix.data = a;
  }

  /* The rank with the largest magnitude. */
  call.pattern = BRIGADE_ALL_REDUCE;
  a[0] = me == size - 1 ? -100 : me;
  location = me;
  call.shape = BRIGADE_TREE;
  call.op = BRIGADE_ABS_MAX;
  call.matrix.rows = call.matrix.cols = 1;
  call.matrix.ld = 0;
  call.locations = &location;
  run(group, &call, "maximum");
  check(a[0] == -100 && location == size - 1, "maximum and where");
  call.locations = NULL;

  /* Everybody sends to the next rank, then receives. */
  a[0] = me;
  call.pattern = BRIGADE_SEND;
  call.root = (me + 1) % size;
  run(group, &call, "send");
  call.pattern = BRIGADE_RECEIVE;
  call.root = (me + size - 1) % size;
  run(group, &call, "receive");
  check(a[0] == (me + size - 1) % size, "received");

  /* Portions of 10 columns each, spread and summed. */
  panel = malloc(sizeof(double) * (size_t)size * kRows * 10);
  for (q = 0; q < size; ++q) {
    portions[q].data = panel + (size_t)q * kRows * 10;
    portions[q].rows = kRows;
    portions[q].cols = 10;
    portions[q].ld = 0;
    for (i = 0; i < kRows * 10; ++i) ((double*)portions[q].data)[i] = q == me ? q : -1;
  }
  memset(&call, 0, sizeof(call));
  call.pattern = BRIGADE_MULTI_BROADCAST;
  call.portions = portions;
  run(group, &call, "multi-broadcast");
  for (q = 0; q < size; ++q) check(((double*)portions[q].data)[7] == q, "spread");
  call.pattern = BRIGADE_MULTI_REDUCE;
  call.matrix.data = a;
  call.matrix.rows = kRows;
  call.matrix.cols = 10;
  run(group, &call, "multi-reduce");
  check(a[7] == (double)me * size, "summed portion");

  /* Fields that a pattern does not use are neither read nor checked. */
  call.matrix.rows = -1;
  call.pattern = BRIGADE_MULTI_BROADCAST;
  run(group, &call, "multi-broadcast beside a matrix of -1 rows");
  call.portions = (const brigade_matrix*)16;
  call.pattern = BRIGADE_BARRIER;
  run(group, &call, "barrier beside what others left");
  call.pattern = BRIGADE_BROADCAST;
  call.matrix.rows = 3;
  run(group, &call, "broadcast beside portions that are gone");
  call.root = size;
  check(brigade_run(group, &call, NULL) == BRIGADE_INVALID_ARGUMENT, "a root outside");
  check(strstr(brigade_error_text(), "outside") != NULL, "error text");

  /* One rank gives up: all hear of it, whether they wait in a call or look. */
  check(brigade_group_error(group) == BRIGADE_OK, "no error yet");
  MPI_Barrier(MPI_COMM_WORLD);
  call.pattern = BRIGADE_BARRIER;
  call.root = 0;
  call.timeout_seconds = 100;
  if (me == size - 1) {
    brigade_group_abort(group, "enough");
  } else if (me == 0) {
    check(brigade_run(group, &call, NULL) == BRIGADE_ABORTED, "ended by another rank");
  }
  while (brigade_group_error(group) == BRIGADE_OK) brigade_progress(engine);
  check(brigade_group_error(group) == BRIGADE_ABORTED, "aborted");
  check(strstr(brigade_error_text(), "aborted it: enough") != NULL, "who and why");

  free(panel);
  brigade_group_destroy(group);
  check(take_trace(trace_file)[0] == '\0', "no trace yet");
  brigade_engine_destroy(engine);
  text = take_trace(trace_file);
  check(strstr(text, "\"copy out\"") != NULL, "copies are traced");
  check(strstr(text, "\"combine\"") != NULL, "combines are traced");

  /* No trace unless asked for. */
  check(brigade_engine_create(NULL, &engine) == BRIGADE_OK, "engine without options");
  brigade_engine_destroy(engine);
  check(take_trace(trace_file)[0] == '\0', "no trace of another engine");
  MPI_Finalize();
  return 0;
}
