/* Completion of started calls: waits, tests, and the descriptor of an engine. */

#define _DEFAULT_SOURCE /* usleep */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "test/api/call_forms.h"

static void send_all(double* values, int count) {
  brigade_matrix matrix = {NULL, 1, 1, 0};
  int i;
  for (i = 0; i < count; ++i) {
    matrix.data = &values[i];
    ok(brigade_send(group, &matrix, BRIGADE_DOUBLE, right(), NULL), "send");
  }
}

/* Receives that end in the order in which their senders go. */
static void completion(void) {
  enum { kPieces = 5 };
  double got[kPieces] = {0}, sent[kPieces] = {1, 2, 3, 4, 5};
  brigade_operation* operations[kPieces + 1] = {NULL};
  brigade_statistics statistics = brigade_statistics_init();
  brigade_matrix matrix = {NULL, 1, 1, 0};
  size_t indices[kPieces + 1], index, ended;
  int i, done, count = 0;

  ok(brigade_wait_all(operations, kPieces), "nothing");
  ok(brigade_wait_any(operations, kPieces, &index), "nothing");
  check(index == kPieces, "no index");
  ok(brigade_wait_some(operations, kPieces, indices, &ended), "nothing");
  check(ended == 0, "none ended");
  ok(brigade_test_all(operations, 0, &done), "nothing");
  check(done == 1, "nothing is done");
  refused(brigade_wait_all(NULL, 3), "operations is a null pointer");

  for (i = 0; i < kPieces; ++i) {
    matrix.data = &got[i];
    ok(brigade_recv_start(group, &matrix, BRIGADE_DOUBLE, left(), NULL, &operations[i]), "start");
  }
  ok(brigade_test_all(operations, kPieces, &done), "test");
  check(!done, "they are not all done");
  ok(brigade_barrier(group, NULL), "barrier");
  /* Odd ranks wait before their senders, even ranks, send. */
  if (me % 2 == 0) {
    usleep(50000);
    send_all(sent, kPieces);
  }
  ok(brigade_wait_any(operations, kPieces, &index), "any");
  check(index < kPieces && operations[index] == NULL && got[index] == (double)index + 1, "one");
  if (me % 2 == 1) send_all(sent, kPieces);
  ok(brigade_wait_some(operations, kPieces + 1, indices, &ended), "some");
  check(ended >= 1, "some ended");
  for (done = 0; !done;) {
    ok(brigade_test_some(operations, kPieces, indices, &ended), "some");
    ok(brigade_test_any(operations, kPieces, &index, &done), "any");
    ok(brigade_test_all(operations, kPieces, &done), "all");
  }
  for (i = 0; i < kPieces; ++i) count += got[i] == i + 1 && operations[i] == NULL;
  check(count == kPieces, "all");
  statistics.messages_sent = 7;
  ok(brigade_wait(NULL, &statistics), "a null operation");
  check(statistics.messages_sent == 0, "counters of a null operation");
}

/* A receive whose end the descriptor tells: the rank sleeps meanwhile. */
static void events(void) {
  double got = 0;
  brigade_operation* operation = NULL;
  brigade_matrix matrix = {NULL, 1, 1, 0};
  struct pollfd descriptor = {-1, POLLIN, 0};
  int round;
  const brigade_status status = brigade_engine_fd(engine, &descriptor.fd);
  if (status == BRIGADE_UNAVAILABLE) {
    check(strstr(brigade_error_text(), "no progress thread") != NULL, "why there is no descriptor");
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

void completion_calls(void) {
  completion();
  events();
}
