/* Programs of BSPlib, from what its paper says of each call.
     bsp_cases [CASE]
   Each prints "process P of N: CASE" where it finds what the paper says, and ends with exit code 0.
 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/bsp.h"
#include "test/support/stress_c.h"

static int me, size, next, previous;

static void check(int condition, const char* what) {
  if (!condition) bsp_abort("process %d: FAILED: %s\n", me, what);
}

/* --- processes, and gets from themselves --- */

static void enquiry(void) {
  const double before = bsp_time();
  check(me >= 0 && me < size, "bsp_pid");
  check(before >= 0, "bsp_time counts from bsp_begin");
  bsp_sync();
  check(bsp_time() >= before, "bsp_time grows");
}

/* --- the paper's examples --- */

static int reverse(int x) {
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  bsp_put(size - me - 1, &x, &x, 0, sizeof(x));
  bsp_pop_reg(&x);
  bsp_sync();
  return x;
}

static int sum(const int* xs, int n) {
  int* const sums = calloc((size_t)size, sizeof(int));
  int i, result = 0;
  bsp_push_reg(sums, size * (int)sizeof(int));
  bsp_sync();
  for (i = 0; i < n; ++i) result += xs[i];
  for (i = 0; i < size; ++i) bsp_hpput(i, &result, sums, me * (int)sizeof(int), sizeof(int));
  bsp_pop_reg(sums);
  bsp_sync();
  for (result = 0, i = 0; i < size; ++i) result += sums[i];
  free(sums);
  return result;
}

/* The elements that are not 0 of a vector that is spread, on all processes. */
static int gather_sparse(const float* dense, int n, float* values, int* places) {
  int tag_size = sizeof(int), count, bytes, i, j, status;
  bsp_set_tagsize(&tag_size);
  bsp_sync();
  for (i = 0; i < n; ++i) {
    const int place = n * me + i;
    if (dense[i] == 0) continue;
    for (j = 0; j < size; ++j) bsp_send(j, &place, &dense[i], sizeof(float));
  }
  bsp_sync();
  bsp_qsize(&count, &bytes);
  check(bytes == count * (int)sizeof(float), "bsp_qsize");
  for (i = 0; i < count; ++i) {
    bsp_get_tag(&status, &places[i]);
    check(status == sizeof(float), "bsp_get_tag");
    bsp_move(&values[i], status);
  }
  bsp_set_tagsize(&tag_size);
  check(tag_size == sizeof(int), "the tag size as it was");
  bsp_sync();
  return count;
}

static void paper(void) {
  enum { kN = 3 };
  int xs[kN], i, places[64], count;
  float dense[kN], values[64];
  for (i = 0; i < kN; ++i) {
    xs[i] = me + i;
    dense[i] = (float)((me + i) % 2);
  }
  check(reverse(me) == size - 1 - me, "reverse");
  check(sum(xs, kN) == kN * size * (size - 1) / 2 + size * kN * (kN - 1) / 2, "sum");
  count = gather_sparse(dense, kN, values, places);
  for (i = 0; i < count; ++i) {
    check(values[i] == 1 && (places[i] / kN + places[i] % kN) % 2 == 1, "gathered");
    check(i == 0 || places[i - 1] < places[i], "by process, and as sent");
  }
  check(count == (size * kN + (size % 2 == 0 ? 0 : -1)) / 2, "how many");
}

/* --- puts and gets --- */

/* A put copies its source at once, and arrives at the end of the superstep, not before. */
static void put_is_buffered(void) {
  int a[3] = {-1, -1, -1}, x = 10 + me;
  bsp_push_reg(a, sizeof(a));
  bsp_sync();
  bsp_put(next, &x, a, sizeof(int), sizeof(int));
  x = 0;
  bsp_put(me, &me, a, 0, sizeof(int));
  bsp_put(next, NULL, a, 99, 0);
  bsp_put(-1, NULL, NULL, -1, 0);
  check(a[0] == -1 && a[1] == -1, "not yet put");
  a[2] = 7;
  bsp_sync();
  check(a[0] == me && a[1] == 10 + previous && a[2] == 7, "put");
  bsp_sync();
  check(a[0] == me && a[1] == 10 + previous, "put once");
  bsp_pop_reg(a);
  bsp_sync();
}

/* A get reads at the end of the superstep, and writes after all gets have read. */
static void get_reads_at_the_end(void) {
  int a[2] = {-1, -1}, got = -1, none = -1;
  bsp_push_reg(a, sizeof(a));
  bsp_sync();
  bsp_get(next, a, sizeof(int), &got, sizeof(int));
  bsp_get(me, a, sizeof(int), &a[0], sizeof(int));
  bsp_get(next, a, 99, &none, 0);
  bsp_get(size, NULL, -1, NULL, 0);
  check(got == -1, "not yet got");
  a[1] = 20 + me; /* behind the call */
  bsp_sync();
  check(got == 20 + next && a[0] == 20 + me && none == -1, "got");

  /* all at once around: everybody gets what was there before */
  a[0] = me;
  bsp_get(next, a, 0, a, sizeof(int));
  bsp_sync();
  check(a[0] == next, "rotated");
  bsp_pop_reg(a);
  bsp_sync();
}

/* Gets come before puts, both in reading and in writing. */
static void gets_before_puts(void) {
  int a[2] = {0, 0}, got = -1, x = 100 + me;
  a[0] = me;
  bsp_push_reg(a, sizeof(a));
  bsp_sync();
  bsp_put(next, &x, a, 0, sizeof(int));
  bsp_get(next, a, 0, &got, sizeof(int));
  bsp_sync();
  check(got == next && a[0] == 100 + previous, "reads before what is put");

  bsp_put(me, &x, a, sizeof(int), sizeof(int)); /* the put is called first, and written last */
  bsp_get(me, a, 0, &a[1], sizeof(int));
  bsp_sync();
  check(a[1] == 100 + me, "writes before what is put");

  /* a put has read its source before the get writes there */
  a[0] = 5;
  a[1] = 6 + me;
  bsp_get(next, a, sizeof(int), &a[0], sizeof(int));
  bsp_put(next, &a[0], a, sizeof(int), sizeof(int));
  bsp_sync();
  check(a[0] == 6 + next && a[1] == 5, "source of a put");
  bsp_pop_reg(a);
  bsp_sync();
}

/* Overlapping puts are written one after the other: by process, and in the order of the calls. */
static void overlaps(void) {
  int *const a = calloc((size_t)size + 2, sizeof(int)), two[2], i;
  bsp_push_reg(a, (size + 2) * (int)sizeof(int));
  bsp_sync();
  two[0] = 10 * me + 1;
  two[1] = 10 * me + 2;
  bsp_put(0, two, a, me * (int)sizeof(int), sizeof(two));
  two[0] += 4;
  bsp_put(0, two, a, (me + 1) * (int)sizeof(int), sizeof(two));
  bsp_sync();
  for (i = 0; i < size && me == 0; ++i) check(a[i] == (i == 0 ? 1 : 10 * i + 1), "like tiles");
  check(me != 0 || (a[size] == 10 * (size - 1) + 5 && a[size + 1] == 10 * (size - 1) + 2),
        "on top");
  bsp_get(0, a, 0, two, sizeof(int));
  bsp_get(0, a, (size + 1) * (int)sizeof(int), two, sizeof(int));
  bsp_sync();
  check(two[0] == 10 * (size - 1) + 2, "gets in order");
  bsp_pop_reg(a);
  bsp_sync();
  free(a);
}

/* Of lengths at which messages come in parts, and direct ones go by themselves. */
static void lengths(void) {
  enum { kLengths = 11, kLongest = 300000 };
  /* Over TCP, twice 16272 bytes and their records fill a part of a packet, twice 32624 two. */
  static const int all[kLengths] = {1,     4000,  4096,  5000,  16272,   16273,
                                    32624, 32625, 32768, 32769, kLongest};
  unsigned char *const a = malloc(kLongest), *const b = malloc(kLongest);
  unsigned char *const c = malloc(kLongest), *payload;
  void *tag, *data;
  int way, i, n, count, bytes, p;
  bsp_push_reg(a, kLongest);
  bsp_push_reg(b, kLongest);
  bsp_sync();
  for (way = 0; way < 4; ++way) {
    for (n = 0; n < kLengths; ++n) {
      const int length = all[n];
      for (i = 0; i < kLongest; ++i) {
        a[i] = (unsigned char)(i % 251 + me);
        b[i] = c[i] = 99;
      }
      bsp_sync();                           /* nobody gets what others still write */
      for (p = next;; p = (p + 1) % size) { /* to one, or to all and oneself */
        const int at = way < 2 ? 0 : p * (length / size), part = way < 2 ? length : length / size;
        (way % 2 == 0 ? bsp_put : bsp_hpput)(p, a + at, b, at, part);
        (way % 2 == 0 ? bsp_get : bsp_hpget)(p, a, at, c + at, part);
        if (way < 2) bsp_send(p, NULL, a, length);
        if (way < 2 || p == me) break;
      }
      if (way % 2 == 0) memset(a, 77, (size_t)length / 2);
      bsp_sync();
      for (i = 0; i < kLongest; ++i) {
        /* In ways 2 and 3, all put part i of theirs at the same place of process i: the last counts
         */
        const int written = i < (way < 2 ? length : length / size * size);
        const int mine = way < 2 || i / (length / size ? length / size : 1) == me;
        const int from = way < 2 ? previous : size - 1;
        const int owner = way < 2 ? next : i / (length / size ? length / size : 1);
        const int put = written && mine ? i % 251 + from : 99;
        const int got = !written ? 99 : way % 2 == 0 && i < length / 2 ? 77 : i % 251 + owner;
        if (way != 3 && b[i] != (unsigned char)put) check(0, "put");
        if (c[i] != (unsigned char)got) check(0, "got");
      }
      bsp_qsize(&count, &bytes);
      check(count == (way < 2) && bytes == (way < 2 ? length : 0), "a message of some length");
      if (count == 0) continue;
      check(bsp_hpmove(&tag, &data) == length, "its length");
      payload = data;
      for (i = 0; i < length; ++i) {
        if (payload[i] != (unsigned char)(i % 251 + previous)) check(0, "its payload");
      }
    }
  }
  bsp_pop_reg(b);
  bsp_pop_reg(a);
  bsp_sync();
  free(a);
  free(b);
  free(c);
}

/* Direct ones to several places, both ways at once, as their rules allow; others beside them. */
static void direct(void) {
  enum { kEach = 50000 };
  int* const memory = malloc(sizeof(int) * 2 * kEach * (size_t)size);
  int* const mine = malloc(sizeof(int) * 2 * kEach * (size_t)size);
  int* const short_ones = calloc(2 * (size_t)size, sizeof(int));
  const int bytes = kEach * (int)sizeof(int);
  int p, i;
  for (i = 0; i < 2 * kEach * size; ++i) {
    memory[i] = me * 1000000 + i;
    mine[i] = -(me * 1000000 + i);
  }
  bsp_push_reg(memory, 2 * bytes * size);
  bsp_push_reg(short_ones, size * (int)sizeof(int));
  bsp_sync();
  for (p = 0; p < size; ++p) {
    bsp_hpput(p, mine + p * kEach, memory, me * bytes, bytes);
    bsp_hpget(p, memory, (size + me) * bytes, mine + (size + p) * kEach, bytes);
    bsp_hpput(p, mine, memory, 0, 0);
    bsp_put(p, &me, short_ones, me * (int)sizeof(int), sizeof(int));
    bsp_get(p, memory, (size + me) * bytes, short_ones + size + p, sizeof(int));
  }
  bsp_sync();
  for (i = 0; i < kEach * size; ++i) {
    p = i / kEach;
    if (memory[i] != -(p * 1000000 + me * kEach + i % kEach)) check(0, "hpput");
    if (mine[size * kEach + i] != p * 1000000 + (size + me) * kEach + i % kEach) check(0, "hpget");
  }
  for (p = 0; p < size; ++p) {
    check(short_ones[p] == p, "put beside direct ones");
    check(short_ones[size + p] == p * 1000000 + (size + me) * kEach, "got beside direct ones");
  }
  bsp_pop_reg(memory);
  bsp_pop_reg(short_ones);
  bsp_sync();
  free(memory);
  free(mine);
  free(short_ones);
}

/* --- registration --- */

static void put_one(int value, int* there, int* expected_here, const char* what) {
  *expected_here = -1;
  bsp_put(next, &value, there, 0, sizeof(int));
  bsp_sync();
  check(*expected_here == value, what);
}

/* Where an address stands for several, the newest counts; which, differs by process. */
static void newest_counts(void) {
  int a = 0, b = 0, c = 0;
  bsp_push_reg(&a, sizeof(int));
  bsp_push_reg(me == 0 ? &a : &b, sizeof(int)); /* process 0: a anew, all others: b */
  bsp_sync();
  /* By a process 0 reaches the second, and others the first. */
  bsp_put(next, &size, &a, 0, sizeof(int));
  bsp_sync();
  check(previous == 0 && me != 0 ? b == size && a == 0 : a == size && b == 0, "the newest");

  /* Not in effect before the superstep ends, neither pushed nor popped. */
  a = b = 0;
  bsp_push_reg(&a, sizeof(int));
  bsp_put(next, &size, &a, 0, sizeof(int));
  bsp_sync();
  check(previous == 0 && me != 0 ? b == size && a == 0 : a == size && b == 0, "as before");
  put_one(1, &a, &a, "the newest now");
  bsp_pop_reg(&a); /* the third */
  put_one(2, &a, &a, "popped, and still in effect");
  a = b = 0;
  bsp_put(next, &size, &a, 0, sizeof(int));
  bsp_sync();
  check(previous == 0 && me != 0 ? b == size && a == 0 : a == size && b == 0, "the second again");
  bsp_pop_reg(me == 0 ? &a : &b);
  bsp_sync();
  put_one(3, &a, &a, "the first again");

  /* Pushed and popped in one superstep, around each other. */
  bsp_push_reg(&b, sizeof(int));
  bsp_push_reg(&c, sizeof(int));
  bsp_pop_reg(&a);
  bsp_pop_reg(&b);
  bsp_push_reg(&b, 0);
  bsp_push_reg(&b, sizeof(int));
  bsp_sync();
  put_one(4, &c, &c, "the one that is left");
  put_one(5, &b, &b, "pushed anew");
  bsp_pop_reg(&b);
  bsp_pop_reg(&b);
  bsp_pop_reg(&c);
  bsp_sync();
}

/* In any order, in several supersteps, more than once the same. */
static void any_order(void) {
  enum { kPieces = 40 };
  int x[kPieces], y, i, round;
  for (round = 0; round < 3; ++round) {
    for (i = 0; i < kPieces; ++i) {
      bsp_push_reg(&x[i], sizeof(int));
      bsp_push_reg(&y, sizeof(int));
      if (i % 7 == 0) bsp_sync();
    }
    bsp_sync();
    for (i = 0; i < kPieces; ++i) {
      const int other = i * 27 % kPieces;
      bsp_pop_reg(&x[other]);
      put_one(i, &x[other], &x[other], "while it is popped");
      put_one(i, &y, &y, "one of several");
      if (i % 2 == 0) bsp_pop_reg(&y);
    }
    for (i = 0; i < kPieces / 2; ++i) bsp_pop_reg(&y);
    bsp_sync();
  }
}

/* Of different sizes, and none at all. */
static void sizes(void) {
  int *const a = calloc((size_t)size + 1, sizeof(int)), none, i, unused = 0;
  bsp_push_reg(me == 0 ? a : &none, me == 0 ? size * (int)sizeof(int) : 0);
  bsp_push_reg(me == 0 ? a : NULL, 0); /* hides process 0's first */
  bsp_push_reg(NULL, 0);
  bsp_push_reg(me % 2 == 0 ? &unused : NULL, me % 2 == 0 ? sizeof(int) : 0);
  bsp_sync();
  if (me != 0) bsp_put(0, &me, &none, me * (int)sizeof(int), sizeof(int));
  bsp_pop_reg(me == 0 ? a : NULL);
  bsp_sync();
  if (me == 0) bsp_put(0, &size, a, 0, sizeof(int));
  if (me % 2 == 0) bsp_put(0, &size, &unused, 0, sizeof(int));
  bsp_sync();
  for (i = 1; i < size && me == 0; ++i) check(a[i] == i, "put to process 0");
  check(me != 0 || (a[0] == size && unused == size), "process 0's first again");
  bsp_pop_reg(NULL); /* the third: NULL on all */
  bsp_pop_reg(me % 2 == 0 ? &unused : NULL);
  bsp_sync();
  bsp_push_reg(NULL, 0);
  bsp_pop_reg(NULL);
  bsp_pop_reg(me == 0 ? a : &none);
  bsp_sync();
  free(a);
}

/* --- messages --- */

static void tag_sizes(void) {
  int bytes = 1, tag = 42, seen = 24, status;
  bsp_set_tagsize(&bytes);
  check(bytes == 0, "none at first");
  bytes = 8;
  bsp_set_tagsize(&bytes);
  check(bytes == 1, "what the last call said");
  bytes = sizeof(int);
  bsp_set_tagsize(&bytes);
  bsp_send(next, NULL, NULL, 0); /* still without */
  bsp_sync();
  bytes = 0;
  bsp_set_tagsize(&bytes);
  check(bytes == sizeof(int), "as it is");
  bsp_get_tag(&status, &seen);
  check(status == 0 && seen == 24, "was sent without a tag");
  bsp_send(next, &tag, NULL, 0);
  tag = 0;
  bsp_sync();
  bsp_get_tag(&status, &seen);
  check(status == 0 && seen == 42, "was sent with a tag");
  bsp_send(next, NULL, NULL, 0);
  bsp_sync();
  seen = 24;
  bsp_get_tag(&status, &seen);
  check(status == 0 && seen == 24, "again without");
  bsp_sync();
}

static void expect_queue(int messages, int bytes) {
  int has_messages = -1, has_bytes = -1;
  bsp_qsize(&has_messages, &has_bytes);
  check(has_messages == messages && has_bytes == bytes, "bsp_qsize");
}

static void messages(void) {
  int tag_bytes = sizeof(int), tag = -1, status, p, i, *data, *at;
  char text[8] = "abcdefg";
  double number = 2.5, *numbers;
  void *tag_at, *data_at;
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
  expect_queue(0, 0);
  bsp_get_tag(&status, &tag);
  check(status == -1 && tag == -1, "an empty queue");
  tag_at = data_at = text;
  check(bsp_hpmove(&tag_at, &data_at) == -1 && tag_at == text && data_at == text, "none to take");

  /* several from each, to each */
  for (p = 0; p < size; ++p) {
    for (i = 0; i < 3; ++i) {
      int sent[3];
      sent[0] = sent[1] = sent[2] = 100 * me + 10 * p + i;
      tag = 10 * me + i;
      bsp_send(p, &tag, sent, i * (int)sizeof(int));
      sent[0] = tag = -1;
    }
  }
  expect_queue(0, 0);
  bsp_sync();
  expect_queue(3 * size, 3 * size * (int)sizeof(int));
  for (p = 0; p < size; ++p) {
    for (i = 0; i < 3; ++i) {
      int here[3] = {-1, -1, -1};
      const int value = 100 * p + 10 * me + i;
      bsp_get_tag(&status, &tag);
      check(tag == 10 * p + i && status == i * (int)sizeof(int), "bsp_get_tag");
      bsp_get_tag(&status, &tag);
      check(tag == 10 * p + i, "looking changes nothing");
      if (i % 2 == 0) {
        bsp_move(here, i == 2 ? (int)sizeof(int) : 0); /* not all of it */
        check(here[0] == (i == 2 ? value : -1) && here[1] == -1, "bsp_move");
      } else {
        check(bsp_hpmove(&tag_at, &data_at) == i * (int)sizeof(int), "bsp_hpmove");
        at = tag_at;
        data = data_at;
        check(*at == 10 * p + i && *data == value, "what bsp_hpmove shows");
      }
    }
  }
  expect_queue(0, 0);

  /* what nobody takes is gone */
  bsp_send(next, &me, text, sizeof(text));
  bsp_sync();
  expect_queue(1, sizeof(text));
  bsp_sync();
  expect_queue(0, 0);

  /* what bsp_hpmove shows is there until the superstep ends, and can be sent and put from there */
  numbers = &number;
  bsp_push_reg(&number, sizeof(number));
  bsp_send(next, &me, &text, 1); /* what is behind it is where any type may be, nevertheless */
  bsp_send(next, &me, numbers, sizeof(number));
  bsp_sync();
  bsp_move(NULL, 0);
  check(bsp_hpmove(&tag_at, &data_at) == sizeof(number), "a number");
  check((uintptr_t)tag_at % sizeof(double) == 0 && (uintptr_t)data_at % sizeof(double) == 0,
        "alignment");
  numbers = data_at;
  *numbers += previous;
  bsp_hpput(next, numbers, &number, 0, sizeof(number));
  bsp_send(next, tag_at, numbers, sizeof(number));
  bsp_sync();
  check(number == 2.5 + (previous + size - 1) % size, "put from a message");
  check(bsp_hpmove(&tag_at, &data_at) == sizeof(number), "and sent");
  numbers = data_at;
  at = tag_at;
  check(*numbers == number && *at == (previous + size - 1) % size, "a message from a message");
  bsp_pop_reg(&number);
  tag_bytes = 0;
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
}

/* Long ones, put directly from where bsp_hpmove shows them, while others come. */
static void direct_from_message(void) {
  enum { kInts = 20000 };
  int* const sent = malloc(kInts * sizeof(int));
  int* const there = malloc(kInts * sizeof(int));
  const int bytes = kInts * (int)sizeof(int);
  int i, round;
  void *tag, *data;
  for (i = 0; i < kInts; ++i) sent[i] = me + i;
  bsp_push_reg(there, bytes);
  bsp_send(next, NULL, sent, bytes);
  bsp_sync();
  for (round = 1; round < 4; ++round) {
    check(bsp_hpmove(&tag, &data) == bytes, "bsp_hpmove of a long one");
    for (i = 0; i < kInts; ++i) ((int*)data)[i] += round;
    bsp_hpput(next, data, there, 0, bytes);
    for (i = 0; i < kInts; ++i) sent[i] = me + i;
    bsp_send(next, NULL, sent, bytes);
    bsp_sync();
    for (i = 0; i < kInts; ++i) {
      if (there[i] != (previous + size - 1) % size + i + round) check(0, "put from a message");
    }
  }
  bsp_pop_reg(there);
  bsp_sync();
  free(sent);
  free(there);
}

/* --- local calls --- */

/* Process 0 makes them while the others are in MPI_Recv, then process 1, and so on. */
static void local_calls(void) {
  enum { kHalf = 1 << 17 };
  char *const memory = calloc(4, kHalf), *const source = memory + 2 * kHalf;
  char* const result = source + kHalf;
  int tag_bytes = 0, messages, bytes, p;
  void *tag, *payload;
  memset(source, 'a' + me % 26, kHalf);
  memset(memory + kHalf, 'A' + me % 26, kHalf);
  bsp_set_tagsize(&tag_bytes);
  bsp_push_reg(memory, 2 * kHalf);
  bsp_sync();
  if (me > 0) MPI_Recv(NULL, 0, MPI_BYTE, me - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(bsp_pid() == me && bsp_nprocs() == size && bsp_time() >= 0, "enquiries");
  bsp_qsize(&messages, &bytes);
  check(messages == 0 && bsp_hpmove(&tag, &payload) == -1, "no message");
  for (p = 0; p < size; ++p) bsp_send(p, NULL, source, kHalf);
  bsp_put(next, source, memory, 0, 8);
  bsp_hpput(next, source + 8, memory, 8, kHalf - 8);
  bsp_get(previous, memory, kHalf, result, 8);
  bsp_hpget(previous, memory, kHalf + 8, result + 8, kHalf - 8);
  bsp_push_reg(result, 8);
  bsp_pop_reg(result);
  bsp_pop_reg(memory);
  bsp_set_tagsize(&tag_bytes); /* as before this case */
  if (me < size - 1) MPI_Send(NULL, 0, MPI_BYTE, me + 1, 0, MPI_COMM_WORLD);
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  check(messages == size && bytes == size * kHalf, "messages");
  check(memory[0] == 'a' + previous % 26 && memory[kHalf - 1] == memory[0], "puts");
  check(result[0] == 'A' + previous % 26 && result[kHalf - 1] == result[0], "gets");
  bsp_sync();
  free(memory);
}

/* --- random supersteps, beside a model of all processes --- */

enum { kMost = 8, kPieces = 4, kBytes = 6000, kOperations = 30 };

/* Piece kPieces is never registered. */
static unsigned char model[kMost][kPieces + 1][kBytes], before[kMost][kPieces + 1][kBytes];
static unsigned char mine[kPieces + 1][kBytes];
static int registered[kMost][kPieces]; /* bytes */

static void push(int piece) {
  int p;
  for (p = 0; p < size; ++p) registered[p][piece] = any(3) == 0 ? any(20) : any(kBytes + 1);
  bsp_push_reg(mine[piece], registered[me][piece]);
}

/* The writes at the end of a superstep. */
static struct Write {
  int process, piece, at, bytes, from, is_put;
  unsigned char* data;
} writes[kOperations];
static int write_count;

static unsigned char* copy(const unsigned char* data, int bytes) {
  return memcpy(malloc((size_t)bytes + 1), data, (size_t)bytes);
}

static void one_operation(void) {
  const int kind = any(3), origin = any(size), target = any(size), piece = any(kPieces);
  const int there_most = registered[target][piece];
  const int most = any(5) == 0 ? there_most : there_most < 30 ? there_most : 30;
  const int bytes = any(most + 1), local = any(kPieces + 1);
  const int there = any(there_most - bytes + 1), here = any(kBytes - bytes + 1);
  struct Write* const made = &writes[write_count];
  if (kind == 2) { /* the program itself stores */
    model[origin][local][here] ^= 0x5a;
    if (origin == me) mine[local][here] ^= 0x5a;
    return;
  }
  ++write_count;
  made->is_put = kind == 0;
  made->from = origin;
  made->bytes = bytes;
  if (made->is_put) {
    made->process = target;
    made->piece = piece;
    made->at = there;
    made->data = copy(&model[origin][local][here], bytes);
    if (origin == me) bsp_put(target, &mine[local][here], mine[piece], there, bytes);
  } else {
    made->process = origin;
    made->piece = local;
    made->at = here;
    made->data = NULL; /* to be read at the end */
    if (origin == me) bsp_get(target, mine[piece], there, &mine[local][here], bytes);
    made->from = (target * kPieces + piece) * kBytes + there;
  }
}

static void end_model(void) {
  int w, p;
  memcpy(before, model, sizeof(model));
  for (w = 0; w < write_count; ++w) {
    const struct Write* const get = &writes[w];
    if (get->is_put) continue;
    memcpy(&model[get->process][get->piece][get->at],
           &before[get->from / kBytes / kPieces][get->from / kBytes % kPieces][get->from % kBytes],
           (size_t)get->bytes);
  }
  for (p = 0; p < size; ++p) {
    for (w = 0; w < write_count; ++w) {
      const struct Write* const put = &writes[w];
      if (!put->is_put || put->from != p) continue;
      memcpy(&model[put->process][put->piece][put->at], put->data, (size_t)put->bytes);
    }
  }
  for (w = 0; w < write_count; ++w) free(writes[w].data);
  write_count = 0;
}

static void random_supersteps(void) {
  const int supersteps = stress_rounds(60, 6000);
  int i, p, step;
  if (me == 0) printf("%d random supersteps from seed %u on\n", supersteps, stress_seed());
  fflush(stdout);
  for (p = 0; p < size; ++p) {
    for (i = 0; i < (kPieces + 1) * kBytes; ++i) {
      model[p][i / kBytes][i % kBytes] = (unsigned char)any(256);
    }
  }
  memcpy(mine, model[me], sizeof(mine));
  for (i = 0; i < kPieces; ++i) push(i);
  bsp_sync();
  for (step = 0; step < supersteps; ++step) {
    for (i = any(kOperations); i > 0; --i) one_operation();
    if (any(4) == 0) { /* registered anew: the accessed bytes are within both */
      const int piece = any(kPieces);
      bsp_pop_reg(mine[piece]);
      push(piece);
    }
    bsp_sync();
    end_model();
    check(memcmp(mine, model[me], sizeof(mine)) == 0, "the model");
  }
  for (i = 0; i < kPieces; ++i) bsp_pop_reg(mine[i]);
  bsp_sync();
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"enquiry", enquiry},
      {"paper", paper},
      {"put_is_buffered", put_is_buffered},
      {"get_reads_at_the_end", get_reads_at_the_end},
      {"gets_before_puts", gets_before_puts},
      {"overlaps", overlaps},
      {"lengths", lengths},
      {"direct", direct},
      {"newest_counts", newest_counts},
      {"any_order", any_order},
      {"sizes", sizes},
      {"tag_sizes", tag_sizes},
      {"messages", messages},
      {"direct_from_message", direct_from_message},
      {"local_calls", local_calls},
      {"random", random_supersteps},
  };
  size_t i;
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  size = bsp_nprocs();
  next = (me + 1) % size;
  previous = (me + size - 1) % size;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (argc > 1 && strcmp(argv[1], cases[i].name) != 0) continue;
    cases[i].run();
    printf("process %d of %d: %s\n", me, size, cases[i].name);
  }
  bsp_end();
  return 0;
}
