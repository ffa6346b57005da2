/* window.h proved usable from C: every call of it, on the ranks of MPI_COMM_WORLD.
     window_c_test TRANSPORT [checked] */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/window.h"

enum { kSlots = 256, kMost = 64 };

static int me, size, next, previous;
static brigade_engine* engine;
static brigade_group* group;
static brigade_window* window;
static double* mine; /* kSlots, exposed */

static void check(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s: %s\n", me, what, brigade_error_text());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void ok(brigade_status status, const char* what) { check(status == BRIGADE_OK, what); }

/* It was refused, and the text has `part` in it. */
static void refused(brigade_status status, const char* part) {
  check(status == BRIGADE_INVALID_ARGUMENT, part);
  check(strstr(brigade_error_text(), part) != NULL, part);
}

static void fence(void) { ok(brigade_window_fence(window, 0), "fence"); }

static void clear(void) {
  int i;
  fence();
  for (i = 0; i < kSlots; ++i) mine[i] = -1;
  fence();
}

static void attributes(void) {
  check(brigade_window_size(window) == size && brigade_window_rank(window) == me, "size and rank");
  check(brigade_window_bytes(window, next) == kSlots * 8, "bytes");
  check(brigade_window_unit(window, next) == 8, "unit");
  check(brigade_window_bytes(window, size) == -1 && brigade_window_unit(window, -1) == -1, "none");
  check(brigade_window_pointer(window, me) == mine, "where mine is");
  check(brigade_window_pointer(window, size) == NULL, "where nobody's is");
}

/* The short forms, between fences. */
static void runs(void) {
  const double sent[2] = {me, me + 0.5};
  double got[2] = {0, 0};
  int i;
  clear();
  ok(brigade_window_put(window, sent, 2, BRIGADE_DOUBLE, next, 3), "put");
  ok(brigade_window_put(window, NULL, 0, BRIGADE_DOUBLE, next, 0), "put of nothing");
  fence();
  check(mine[3] == previous && mine[4] == previous + 0.5 && mine[5] == -1, "what was put");
  ok(brigade_window_get(window, got, 2, BRIGADE_DOUBLE, next, 3), "get");
  fence();
  check(got[0] == me && got[1] == me + 0.5, "what was got");
  for (i = 0; i < size; ++i) {
    ok(brigade_window_accumulate(window, BRIGADE_SUM, sent, 1, BRIGADE_DOUBLE, i, 9), "accumulate");
  }
  ok(brigade_window_fence(window, BRIGADE_FENCE_NOTHING_SUCCEEDS), "last fence");
  check(mine[9] == -1 + size * (size - 1) / 2.0, "sum");
  refused(brigade_window_put(window, sent, 1, BRIGADE_DOUBLE, next, 0), "no epoch");
  ok(brigade_window_fence(window, BRIGADE_FENCE_NOTHING_PRECEDES), "first fence");
}

/* Columns here, blocks there; requests. */
static void layouts(void) {
  const brigade_layout* const one = brigade_layout_of(BRIGADE_DOUBLE);
  brigade_layout *pair = NULL, *column = NULL, *list = NULL, *wide = NULL;
  brigade_window_request* request = NULL;
  brigade_window_request* more = NULL;
  brigade_values values;
  brigade_values result;
  brigade_target target;
  brigade_block blocks[2];
  double from[40], back[8], sums[8];
  int i;
  clear();
  ok(brigade_layout_contiguous(2, one, &pair), "contiguous");
  ok(brigade_layout_strided(4, 1, 5 * 8, pair, &column), "strided");
  blocks[0].offset = 10 * 8;
  blocks[0].count = 3;
  blocks[0].of = one;
  blocks[1].offset = 0;
  blocks[1].count = 1;
  blocks[1].of = one;
  ok(brigade_layout_list(2, blocks, sizeof(brigade_block), &list), "list");
  ok(brigade_layout_resized(20 * 8, list, &wide), "resized");
  for (i = 0; i < 40; ++i) from[i] = 100 * me + i;
  memset(&values, 0, sizeof(values));
  values.data = from;
  values.count = 1;
  values.layout = column; /* 0 1, 5 6, 10 11, 15 16 */
  target.rank = next;
  target.displacement = 2;
  target.count = 2;
  target.layout = wide; /* 12 13 14 2, 32 33 34 22 */
  ok(brigade_window_put_values(window, &values, &target, &request), "put of values");
  ok(brigade_window_request_wait(request), "its request");
  fence();
  check(mine[12] == 100 * previous && mine[13] == 100 * previous + 1 &&
            mine[14] == 100 * previous + 5 && mine[2] == 100 * previous + 6 &&
            mine[32] == 100 * previous + 10 && mine[22] == 100 * previous + 16 && mine[3] == -1,
        "where they lie");
  fence();

  memset(back, 0, sizeof(back));
  result.data = back;
  result.count = 8;
  result.layout = one;
  ok(brigade_window_get_values(window, &result, &target, &request), "get of values");
  while (!brigade_window_request_test(request)) continue;
  ok(brigade_window_request_wait(request), "its request");
  check(back[0] == 100 * me && back[7] == 100 * me + 16, "what was got");

  /* Two at once; layouts go before they are done. */
  ok(brigade_window_get_accumulate(window, BRIGADE_MAX, &values, &result, &target, &request),
     "get and accumulate");
  ok(brigade_window_accumulate_values(window, BRIGADE_SUM, &values, &target, &more),
     "accumulate of values");
  brigade_layout_destroy(pair);
  brigade_layout_destroy(column);
  brigade_layout_destroy(list);
  brigade_layout_destroy(wide);
  refused(brigade_window_free(window), "2 requests");
  ok(brigade_window_request_wait(more), "the second");
  ok(brigade_window_request_wait(request), "the first");
  fence();
  check(back[3] == 100 * me + 6, "what was there before");
  check(mine[12] == 200 * previous && mine[22] == 2 * (100 * previous + 16), "twice that");
  target.count = 4;
  target.displacement = 0;
  target.layout = result.layout;
  result.count = 4;
  result.data = sums;
  ok(brigade_window_get_accumulate(window, BRIGADE_NO_OP, NULL, &result, &target, NULL),
     "an atomic read");
  fence();
  check(sums[2] == 2 * (100 * me + 6), "what it reads");
}

static void locks(void) {
  int64_t one = 1, was = -1, zero = 0, mark = 7;
  int i;
  clear();
  mine[0] = mine[1] = 0;
  fence();
  ok(brigade_window_fence(window, BRIGADE_FENCE_NOTHING_SUCCEEDS), "last fence");
  for (i = 0; i < 20; ++i) {
    ok(brigade_window_lock(window, i % 2 == 0 ? BRIGADE_LOCK_SHARED : BRIGADE_LOCK_EXCLUSIVE, 0),
       "lock");
    ok(brigade_window_fetch_and_op(window, BRIGADE_SUM, BRIGADE_INT64, &one, &was, 0, 0),
       "fetch and add");
    ok(brigade_window_flush_local(window, 0), "local flush");
    ok(brigade_window_flush(window, 0), "flush");
    check(was >= 0 && was < 20 * size, "a ticket");
    ok(brigade_window_unlock(window, 0), "unlock");
  }
  ok(brigade_window_lock_all(window), "lock of all");
  ok(brigade_window_compare_and_swap(window, BRIGADE_INT64, &zero, &mark, &was, next, 1),
     "compare and swap");
  ok(brigade_window_flush_all(window), "flush of all");
  check(was == 0, "what was there");
  ok(brigade_window_compare_and_swap(window, BRIGADE_INT64, &zero, &mark, &was, next, 1),
     "another one");
  ok(brigade_window_flush_local_all(window), "local flush of all");
  check(was == 7, "what is there now");
  refused(brigade_window_free(window), "lock");
  refused(brigade_window_fence(window, 0), "lock");
  ok(brigade_window_unlock_all(window), "unlock of all");
  fence();
  check(me != 0 || *(int64_t*)&mine[0] == 20 * size, "count");
  ok(brigade_window_sync(window), "sync");
}

static void post_and_start(void) {
  const double sent = me + 10;
  int both[2], done = 0, count = next == previous ? 1 : 2;
  both[0] = next;
  both[1] = previous;
  clear();
  ok(brigade_window_post(window, both, count), "post");
  ok(brigade_window_start(window, both, count), "start");
  ok(brigade_window_put(window, &sent, 1, BRIGADE_DOUBLE, next, 1), "put");
  ok(brigade_window_put(window, &sent, 1, BRIGADE_DOUBLE, previous, 2), "put");
  ok(brigade_window_complete(window), "complete");
  if (me % 2 == 0) {
    ok(brigade_window_wait(window), "wait");
  } else {
    while (!done) ok(brigade_window_test(window, &done), "test");
  }
  check(mine[1] == previous + 10 && mine[2] == next + 10, "both have put");
  refused(brigade_window_complete(window), "without a start");
  refused(brigade_window_wait(window), "without a post");
  both[1] = next;
  refused(brigade_window_start(window, both, 2), "twice");
}

static void notifications(void) {
  const brigade_layout* const one = brigade_layout_of(BRIGADE_DOUBLE);
  double sent = 5;
  brigade_values values = {&sent, 1, NULL};
  brigade_target target = {0, 8, 1, NULL};
  brigade_window_request* request = NULL;
  int taken = 0;
  clear();
  ok(brigade_window_put_notify(window, &sent, 1, BRIGADE_DOUBLE, next, 7), "put and notify");
  values.layout = target.layout = one;
  target.rank = next;
  ok(brigade_window_put_notify_values(window, &values, &target, &request), "of values");
  ok(brigade_window_notify_wait(window, previous, 1), "notification");
  check(mine[7] == 5, "what came before it");
  while (!taken) ok(brigade_window_notify_test(window, previous, 1, &taken), "test of another");
  check(mine[8] == 5, "what came before that");
  ok(brigade_window_notify_test(window, previous, 1, &taken), "test of none");
  check(!taken, "there are no more");
  ok(brigade_window_request_wait(request), "request of a notified put");
  refused(brigade_window_notify_wait(window, previous, -1), "-1 notifications");
}

/* Wrong calls return errors and have no effect. */
static void mistakes(void) {
  const brigade_layout* const one = brigade_layout_of(BRIGADE_DOUBLE);
  double value = 1;
  brigade_values values = {&value, 1, NULL};
  brigade_target target = {0, 0, 1, NULL};
  brigade_layout* layout = NULL;
  brigade_block block = {0, 1, NULL};
  brigade_window_request* request = (brigade_window_request*)&block;
  int done = 0;
  values.layout = target.layout = one;
  fence();
  refused(brigade_window_fence(NULL, 0), "window is a null pointer");
  refused(brigade_window_fence(window, 4), "promises has no value 4");
  refused(brigade_window_put(window, &value, 1, (brigade_type)99, 0, 0), "type has no value 99");
  refused(brigade_window_put(window, &value, 1, (brigade_type)-1, 0, 0), "type has no value -1");
  refused(brigade_window_put(window, NULL, 1, BRIGADE_DOUBLE, 0, 0), "data is a null pointer");
  refused(brigade_window_get(window, &value, -1, BRIGADE_DOUBLE, 0, 0), "a count of -1");
  refused(brigade_window_get(window, &value, INT64_MAX, BRIGADE_DOUBLE, 0, 0), "a count of");
  refused(brigade_window_put(window, &value, 1, BRIGADE_DOUBLE, size, 0), "rank");
  refused(brigade_window_put(window, &value, 1, BRIGADE_DOUBLE, 0, kSlots), "displacement 256");
  refused(brigade_window_put(window, &value, 1, BRIGADE_DOUBLE, 0, -1), "displacement -1");
  refused(brigade_window_accumulate(window, (brigade_op)17, &value, 1, BRIGADE_DOUBLE, 0, 0),
          "op has no value 17");
  refused(brigade_window_accumulate(window, BRIGADE_BIT_AND, &value, 1, BRIGADE_DOUBLE, 0, 0),
          "not defined for double");
  refused(brigade_window_fetch_and_op(window, BRIGADE_SUM, BRIGADE_DOUBLE, NULL, &value, 0, 0),
          "value is a null pointer");
  refused(
      brigade_window_compare_and_swap(window, BRIGADE_COMPLEX_DOUBLE, &value, &value, &value, 0, 0),
      "complex double");
  refused(brigade_window_compare_and_swap(window, BRIGADE_INT64, &value, NULL, &value, 0, 0),
          "desired is a null pointer");
  refused(brigade_window_put_values(window, NULL, &target, NULL), "values is a null pointer");
  refused(brigade_window_put_values(window, &values, NULL, &request), "target is a null pointer");
  check(request == NULL, "no request was made");
  target.count = 2;
  refused(brigade_window_put_values(window, &values, &target, NULL), "8 bytes here, and 16");
  target.count = -2;
  refused(brigade_window_put_values(window, &values, &target, NULL), "-2 values at rank 0");
  values.layout = NULL;
  refused(brigade_window_put_values(window, &values, &target, NULL), "layout is a null pointer");
  refused(brigade_window_lock(window, (brigade_lock)2, 0), "kind has no value 2");
  refused(brigade_window_lock(window, BRIGADE_LOCK_SHARED, size), "rank");
  refused(brigade_window_start(window, NULL, 1), "ranks is a null pointer");
  refused(brigade_window_post(window, &size, 1), "rank");
  refused(brigade_window_post(window, &size, -1), "a count of -1");
  refused(brigade_window_test(window, NULL), "done is a null pointer");
  refused(brigade_window_test(window, &done), "without a post");
  refused(brigade_window_notify_test(window, size, 1, &done), "rank");
  refused(brigade_window_unlock(window, 0), "no lock is held");
  refused(brigade_window_unlock_all(window), "without a lock of all");
  refused(brigade_window_flush(window, 0), "no lock is held");

  check(brigade_layout_of((brigade_type)27) == NULL, "no such element");
  refused(brigade_layout_contiguous(-1, one, &layout), "negative");
  refused(brigade_layout_contiguous(INT64_MAX, one, &layout), "2^62");
  refused(brigade_layout_contiguous(1, NULL, &layout), "null pointer");
  refused(brigade_layout_strided(2, 1, INT64_MAX, one, &layout), "2^62");
  refused(brigade_layout_list(-1, &block, sizeof(brigade_block), &layout), "negative");
  refused(brigade_layout_list(1, NULL, sizeof(brigade_block), &layout), "blocks is a null pointer");
  refused(brigade_layout_list(1, &block, 8, &layout), "pass sizeof(brigade_block), 24");
  refused(brigade_layout_list(1, &block, 32, &layout), "pass sizeof(brigade_block), 24");
  check(brigade_layout_list(INT64_MAX, &block, sizeof(brigade_block), &layout) ==
            BRIGADE_OUT_OF_MEMORY,
        "more blocks than fit memory");
  check(brigade_layout_of(BRIGADE_FLOAT16) == NULL, "a type that windows do not have");
  refused(brigade_layout_list(1, &block, sizeof(brigade_block), &layout),
          "block 0: the layout is a null pointer");
  refused(brigade_layout_list(1, &block, sizeof(brigade_block), NULL), "null pointer");
  refused(brigade_layout_resized(INT64_MIN, one, &layout), "an extent of -");
  check(layout == NULL, "nothing was made");
  brigade_layout_destroy(NULL);
  check(brigade_window_request_test(NULL) == 1, "no request is done");
  ok(brigade_window_request_wait(NULL), "no request");
  ok(brigade_window_free(NULL), "no window");
  brigade_window_destroy(NULL);
}

/* Memory that is attached, wherever it is. */
static void dynamic(void) {
  double here[4] = {0, 0, 0, 0};
  int64_t mine = (int64_t)(uintptr_t)here, theirs = 0;
  double value = me + 1;
  brigade_window* attached = NULL;
  refused(brigade_window_attach(NULL, here, 8), "window is a null pointer");
  refused(brigade_window_attach(window, here, 8), "no memory is attached to");
  ok(brigade_window_create_dynamic(group, &attached), "dynamic");
  refused(brigade_window_attach(attached, NULL, 8), "memory is a null pointer");
  ok(brigade_window_attach(attached, here, sizeof(here)), "attach");
  refused(brigade_window_attach(attached, here + 3, 8), "overlap");
  MPI_Sendrecv(&mine, 1, MPI_INT64_T, previous, 0, &theirs, 1, MPI_INT64_T, next, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  ok(brigade_window_fence(attached, 0), "fence");
  ok(brigade_window_put(attached, &value, 1, BRIGADE_DOUBLE, next, theirs + 16), "put");
  ok(brigade_window_fence(attached, 0), "fence");
  check(here[2] == previous + 1 && here[1] == 0 && here[3] == 0, "put to an address");
  ok(brigade_window_fence(attached, BRIGADE_FENCE_NOTHING_SUCCEEDS), "fence");
  ok(brigade_window_detach(attached, here), "detach");
  refused(brigade_window_detach(attached, here), "not attached");
  ok(brigade_window_free(attached), "free");
}

/* Both neighbours put to the same place: found where it is looked for. */
static void conflict(int is_checked) {
  static double memory[1];
  const double value = me;
  brigade_status status;
  brigade_window* other;
  ok(brigade_window_create(group, memory, sizeof(memory), 8, &other), "window");
  ok(brigade_window_fence(other, 0), "fence");
  ok(brigade_window_put(other, &value, 1, BRIGADE_DOUBLE, 0, 0), "put");
  status = brigade_window_fence(other, 0);
  check(status == (is_checked ? BRIGADE_MISMATCH : BRIGADE_OK), "a conflict");
  check(!is_checked || strstr(brigade_error_text(), "rank 0, bytes 0 to 7: a put of") != NULL,
        "it is named");
  check(brigade_window_free(other) == status, "free");
}

static void everything(void) {
  attributes();
  runs();
  layouts();
  locks();
  post_and_start();
  notifications();
  dynamic();
  mistakes();
}

int main(int argc, char** argv) {
  static double memory[kSlots];
  brigade_options options;
  void* made = NULL;
  int64_t unit;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc == 2 || argc == 3, "usage: window_c_test TRANSPORT [checked]");
  next = (me + 1) % size;
  previous = (me + size - 1) % size;
  options = brigade_options_init();
  options.transport = argv[1];
  options.check_windows = argc == 3 ? BRIGADE_ON : BRIGADE_DEFAULT;
  ok(brigade_engine_create(&options, &engine), "engine");
  ok(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group), "group");

  /* A mistake on one rank fails the call on all ranks. */
  unit = me == size - 1 ? 0 : 8;
  refused(brigade_window_create(group, memory, sizeof(memory), unit, &window), "unit of 0");
  refused(brigade_window_create(group, me == 0 ? NULL : memory, sizeof(memory), 8, &window),
          "null");
  refused(brigade_window_create(NULL, memory, sizeof(memory), 8, &window), "group is a null");
  refused(brigade_window_create(group, memory, sizeof(memory), 8, NULL), "null pointer");
  window = (brigade_window*)memory;
  refused(brigade_window_allocate(group, sizeof(memory), 8, NULL, &window), "null pointer");
  check(window == NULL, "no window was made");

  ok(brigade_window_create(group, memory, sizeof(memory), 8, &window), "window");
  mine = memory;
  everything();
  ok(brigade_window_free(window), "free");

  ok(brigade_window_allocate(group, sizeof(memory), 8, &made, &window), "allocated window");
  mine = made;
  check(mine[0] == 0 && mine[kSlots - 1] == 0, "zeroed");
  everything();

  conflict(options.check_windows == BRIGADE_ON);

  /* One rank gives it up. */
  fence();
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    brigade_window_destroy(window);
  } else {
    check(brigade_window_fence(window, 0) == BRIGADE_ABORTED, "ended by another rank");
    check(strstr(brigade_error_text(), "destroyed and not freed") != NULL, "why");
    check(brigade_window_put(window, memory, 1, BRIGADE_DOUBLE, me, 0) == BRIGADE_ABORTED,
          "a put into memory that this rank maps");
    check(brigade_window_free(window) == BRIGADE_ABORTED, "it is gone all the same");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
