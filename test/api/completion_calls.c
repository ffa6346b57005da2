/* Completion of started calls: waits, tests, and the descriptor of an engine. */

#define _DEFAULT_SOURCE /* usleep */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "test/api/call_forms.h"

enum { kPieces = 5, kPlaces = kPieces + 1 };
static const double sent[kPieces] = {1, 2, 3, 4, 5};
static double got[kPieces];
static brigade_operation* operations[kPlaces];
static size_t places[kPlaces];

static void send_pieces(int first, int end) {
  brigade_matrix matrix = {NULL, 1, 1, 0};
  int i;
  for (i = first; i < end; ++i) {
    matrix.data = (void*)&sent[i];
    ok(brigade_send(group, &matrix, BRIGADE_DOUBLE, right(), NULL), "send");
  }
}

/* Pieces arrive in order. The receive of piece i is at place kPieces - 1 - i, and the last place
 * has none. */
static void start_receives(void) {
  brigade_matrix matrix = {NULL, 1, 1, 0};
  int i;
  for (i = 0; i < kPieces; ++i) {
    got[i] = 0;
    matrix.data = &got[i];
    ok(brigade_recv_start(group, &matrix, BRIGADE_DOUBLE, left(), NULL,
                          &operations[kPieces - 1 - i]),
       "start");
  }
}

/* Ended were `count` operations, in increasing order of their places, and no others of the
 * `pending` ones. Returns the number of those left. */
static size_t ended_only(size_t count, size_t pending, const char* name) {
  size_t i, left_over = 0;
  for (i = 0; i < count; ++i) {
    check(places[i] < kPieces && (i == 0 || places[i - 1] < places[i]), name);
    check(operations[places[i]] == NULL, name);
    check(got[kPieces - 1 - places[i]] == sent[kPieces - 1 - places[i]], name);
  }
  for (i = 0; i < kPlaces; ++i) left_over += operations[i] != NULL;
  check(left_over + count == pending, name);
  return left_over;
}

static void null_operations(void) {
  brigade_statistics statistics = brigade_statistics_init();
  size_t index, ended;
  int done;
  memset(operations, 0, sizeof(operations));
  ok(brigade_wait_all(operations, kPlaces), "nothing");
  ok(brigade_wait_any(operations, kPlaces, &index), "nothing");
  check(index == kPlaces, "no index");
  ok(brigade_wait_some(operations, kPlaces, places, &ended), "nothing");
  check(ended == 0, "none ended");
  ok(brigade_test_all(operations, 0, &done), "nothing");
  check(done == 1, "nothing is done");
  ok(brigade_wait_some(NULL, 0, NULL, &ended), "no array");
  ok(brigade_test_some(NULL, 0, NULL, &ended), "no array");
  check(ended == 0, "none ended");
  refused(brigade_wait_all(NULL, 3), "operations is a null pointer");
  refused(brigade_wait_some(operations, kPlaces, NULL, &ended), "indices is a null pointer");
  statistics.messages_sent = 7;
  ok(brigade_wait(NULL, &statistics), "a null operation");
  check(statistics.messages_sent == 0, "counters of a null operation");
}

/* Odd ranks wait before their senders, even ranks, send. */
static void wait_for_late_senders(int for_some) {
  size_t ended = 1, pending = kPieces;
  int done;
  start_receives();
  ok(brigade_test_all(operations, kPlaces, &done), "test");
  check(!done, "they are not all done");
  ok(brigade_barrier(group, NULL), "barrier");
  if (me % 2 == 0) {
    usleep(50000);
    send_pieces(0, kPieces);
  }
  if (for_some) {
    ok(brigade_wait_some(operations, kPlaces, places, &ended), "some");
    check(ended >= 1, "some ended");
  } else {
    ok(brigade_wait_any(operations, kPlaces, &places[0]), "any");
  }
  pending = ended_only(ended, pending, "the first wait");
  if (me % 2 == 1) send_pieces(0, kPieces);
  while (pending > 0) {
    ok(brigade_wait_some(operations, kPlaces, places, &ended), "some");
    check(ended >= 1, "some ended");
    pending = ended_only(ended, pending, "further waits");
  }
}

/* The receives of pieces 0, 1 and 2 are complete, those of 3 and 4 are not. */
static void complete_three(void) {
  int i;
  start_receives();
  ok(brigade_barrier(group, NULL), "barrier");
  send_pieces(0, 3);
  for (i = 0; i < 3; ++i) {
    while (!brigade_test(operations[kPieces - 1 - i])) continue;
  }
}
/* None of the others is complete until all ranks have come here. */
static void complete_others(void) {
  size_t index, ended;
  int done;
  ok(brigade_test_some(operations, kPlaces, places, &ended), "some");
  check(ended == 0, "none ended");
  ok(brigade_test_any(operations, kPlaces, &index, &done), "any");
  check(!done && index == kPlaces, "none is done");
  ok(brigade_test_all(operations, kPlaces, &done), "all");
  check(!done, "they are not all done");
  (void)ended_only(0, kPieces - 3, "no test ended one");
  ok(brigade_barrier(group, NULL), "barrier");
  send_pieces(3, kPieces);
}

static void end_the_complete_ones(void) {
  size_t ended;
  int done;

  complete_three();
  ok(brigade_wait_some(operations, kPlaces, places, &ended), "some");
  check(ended == 3, "all complete ones ended");
  (void)ended_only(ended, kPieces, "wait for some");
  complete_others();
  ok(brigade_wait_all(operations, kPlaces), "all");
  (void)ended_only(0, 0, "wait for all");

  complete_three();
  ok(brigade_test_some(operations, kPlaces, places, &ended), "some");
  check(ended == 3, "all complete ones ended");
  (void)ended_only(ended, kPieces, "test of some");
  complete_others();
  do {
    ok(brigade_test_all(operations, kPlaces, &done), "all");
    (void)ended_only(0, done ? 0 : kPieces - 3, "test of all");
  } while (!done);

  complete_three();
  ok(brigade_wait_any(operations, kPlaces, &places[0]), "any");
  (void)ended_only(1, kPieces, "wait for any");
  ok(brigade_test_any(operations, kPlaces, &places[0], &done), "any");
  check(done, "one is done");
  (void)ended_only(1, kPieces - 1, "test of any");
  ok(brigade_wait_any(operations, kPlaces, &places[0]), "any");
  (void)ended_only(1, kPieces - 2, "wait for any");
  complete_others();
  ok(brigade_wait_all(operations, kPlaces), "all");
}

/* A receive whose end the descriptor signals: the rank sleeps meanwhile. */
static void events(void) {
  double got = 0;
  brigade_operation* operation = NULL;
  brigade_matrix matrix = {NULL, 1, 1, 0};
  struct pollfd descriptor = {-1, POLLIN, 0};
  int round;
  const brigade_status status = brigade_engine_fd(engine, &descriptor.fd);
  if (status == BRIGADE_UNAVAILABLE) {
    check(strstr(brigade_error_text(), "the transport mpi allows no progress thread") != NULL,
          "only mpi has no descriptor");
    return;
  }
  ok(status, "descriptor");
  for (round = 0; round < 3; ++round) {
    matrix.data = &got;
    ok(brigade_recv_start(group, &matrix, BRIGADE_DOUBLE, left(), NULL, &operation), "start");
    brigade_progress(engine);
    ok(brigade_barrier(group, NULL), "barrier");
    matrix.data = &a[0];
    a[0] = round + 1;
    /* Odd ranks sleep in poll() before their senders, even ranks, send. */
    if (me % 2 == 0) {
      usleep(50000);
      ok(brigade_send(group, &matrix, BRIGADE_DOUBLE, right(), NULL), "send");
    }
    do {
      check(poll(&descriptor, 1, 60000) == 1, "the descriptor is readable");
      brigade_progress(engine);
    } while (!brigade_test(operation));
    if (me % 2 == 1) ok(brigade_send(group, &matrix, BRIGADE_DOUBLE, right(), NULL), "send");
    ok(brigade_wait(operation, NULL), "wait");
    check(got == round + 1, "received");
  }
  brigade_progress(engine);
  check(poll(&descriptor, 1, 0) == 0, "nothing to tell");
}

/* It could be ended only once. */
static void an_operation_twice(void) {
  const char* const why = "operation 4 is in the array twice";
  size_t ended;
  int done;
  memset(operations, 0, sizeof(operations));
  ok(brigade_barrier_start(group, NULL, &operations[0]), "start");
  ok(brigade_barrier_start(group, NULL, &operations[2]), "start");
  operations[4] = operations[2];
  refused(brigade_wait_all(operations, kPlaces), why);
  refused(brigade_wait_any(operations, kPlaces, &ended), why);
  refused(brigade_wait_some(operations, kPlaces, places, &ended), why);
  refused(brigade_test_all(operations, kPlaces, &done), why);
  refused(brigade_test_any(operations, kPlaces, &ended, &done), why);
  refused(brigade_test_some(operations, kPlaces, places, &ended), why);
  operations[4] = NULL;
  ok(brigade_wait_all(operations, kPlaces), "each once");
}

void completion_calls(void) {
  null_operations();
  an_operation_twice();
  wait_for_late_senders(0);
  wait_for_late_senders(1);
  end_the_complete_ones();
  events();
}
