/* Programs of LI, each of which does the same over every backend.
     li_cases CASE
   A sound one prints "process P of N: CASE" and ends with exit code 0. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/li.h"
#include "test/support/stress_c.h"

static int me, size, next, previous;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("process %d: FAILED: %s\n", me, what);
  fflush(stdout);
  LIABORT();
}

static void superstep(void) {
  LISYNC();
  LIBARRIER();
}

static void commit(void) {
  LIINIT();
  LICOMMIT();
}

/* --- every primitive --- */

static void primitives(void) {
  int a[4] = {-1, -1, -1, -1}, b[3] = {0, 0, 0}, got[2] = {0, 0}, sent;
  check(me >= 0 && me < size, "LIPID");
  b[me % 3] = 100 + me;

  /* unlabelled, of two pieces of memory at once */
  LIREGISTER(a, sizeof(a));
  LIREGISTER(b, sizeof(b));
  commit();
  sent = 10 + me;
  LIPUT(next, &sent, a, 2 * sizeof(int), sizeof(int));
  LIGET(next, b, (size_t)(next % 3) * sizeof(int), got, sizeof(int));
  LIPUT(me, &me, a, 0, sizeof(int));
  LIPUT(next, NULL, a, sizeof(a), 0);
  LIGET(next, a, 0, NULL, 0);
  LISYNC();
  sent = -7; /* it may be changed now */
  LIBARRIER();
  check(a[0] == me && a[1] == -1 && a[2] == 10 + previous && a[3] == -1, "what was put");
  check(got[0] == 100 + next && got[1] == 0, "what was got");
  superstep(); /* an empty one */

  /* both ends are registered memory */
  LIPUT(next, b, a, 0, sizeof(b));
  superstep();
  check(a[previous % 3] == 100 + previous && a[3] == -1, "from registered memory");
  LIDEREGISTER(a);
  LIDEREGISTER(b);
}

static void labels(void) {
  int a[2] = {-1, -1}, b[2] = {-1, -1}, got = 0;
  LIOREGISTER(a, sizeof(a));
  LIOREGISTER(b, sizeof(b));
  LIOINIT(b);
  LIOINIT(a);
  LIOINIT(a);
  LIOCOMMIT();
  LIOPUT(next, &me, a, sizeof(int), sizeof(int));
  LIOSYNC(a);
  LIOBARRIER();
  check(a[0] == -1 && a[1] == previous, "one label");
  LIOGET(previous, a, sizeof(int), &got, sizeof(int));
  LIOPUT(next, &me, b, 0, sizeof(int));
  LIOSYNC(b);
  LIOSYNC(a);
  LIOBARRIER();
  check(got == (previous + size - 1) % size && b[0] == previous, "two labels");
  LIDEREGISTER(b);
  LIDEREGISTER(a);
}

/* Registrations end with the program. */
static void forgotten(void) {
  static int a[2];
  LIREGISTER(a, sizeof(a));
  commit();
  LIPUT(next, &me, a, 0, sizeof(int));
  superstep();
  check(a[0] == previous, "what was put");
}

/* As many pieces as can be, of different lengths on different processes; slots are used again. */
static void limit(void) {
  static int memory[MAX_LI_WINDOWS][8];
  int i;
  for (i = 0; i < MAX_LI_WINDOWS; ++i) {
    LIREGISTER(memory[i], (size_t)((i + me) % 8 + 1) * sizeof(int));
  }
  commit();
  for (i = 0; i < MAX_LI_WINDOWS; ++i) {
    LIPUT(next, &me, memory[i], (size_t)((i + next) % 8) * sizeof(int), sizeof(int));
  }
  superstep();
  for (i = 0; i < MAX_LI_WINDOWS; ++i) check(memory[i][(i + me) % 8] == previous, "its end");
  for (i = 0; i < MAX_LI_WINDOWS; i += 16) LIDEREGISTER(memory[i]);
  for (i = 0; i < MAX_LI_WINDOWS; i += 16) LIREGISTER(memory[i], sizeof(int) * (me == 0 ? 1 : 2));
  commit();
  for (i = 0; i < MAX_LI_WINDOWS; i += 16) {
    LIPUT(next, &i, memory[i], next == 0 ? 0 : sizeof(int), sizeof(int));
    LISYNC();
  }
  LIBARRIER();
  for (i = 0; i < MAX_LI_WINDOWS; i += 16) check(memory[i][me != 0] == i, "a slot used again");
  for (i = 0; i < MAX_LI_WINDOWS; ++i) LIDEREGISTER(memory[i]);
}

/* Memory that is registered anew has the same place on all processes, whatever one of them alone
   has put to meanwhile. */
static void anew(void) {
  int first = 0, second = 0, third = -1, fourth = -1;
  LIREGISTER(&first, sizeof(int));
  LIREGISTER(&second, sizeof(int));
  LIREGISTER(&third, sizeof(int));
  commit();
  LIDEREGISTER(&first);
  LIDEREGISTER(&second);
  if (me == 0) LIPUT(next, &size, &third, 0, sizeof(int));
  superstep();
  LIREGISTER(&fourth, sizeof(int));
  commit();
  LIPUT(next, &me, &fourth, 0, sizeof(int));
  superstep();
  check(third == (previous == 0 ? size : -1) && fourth == previous, "registered anew");
  LIDEREGISTER(&fourth);
  LIDEREGISTER(&third);
}

/* Long ones, and many short ones: what goes by messages comes in pieces. */
static void lengths(void) {
  enum { kLong = 300000, kShort = 5000 };
  unsigned char* const memory = malloc(kLong + kShort);
  unsigned char* const sent = malloc(kLong + kShort);
  int i;
  for (i = 0; i < kLong + kShort; ++i) sent[i] = (unsigned char)(i % 251 + me);
  LIREGISTER(memory, kLong + kShort);
  commit();
  for (i = kLong; i < kLong + kShort; ++i) LIPUT(next, sent + i, memory, (size_t)i, 1);
  LIPUT(next, sent, memory, 0, kLong);
  superstep();
  for (i = 0; i < kLong + kShort; ++i) {
    if (memory[i] != (unsigned char)(i % 251 + previous)) check(0, "a byte of many");
  }
  memset(sent, 0, kLong + kShort);
  LIGET(next, memory, 0, sent, kLong);
  for (i = kLong; i < kLong + kShort; ++i) LIGET(next, memory, (size_t)i, sent + i, 1);
  superstep();
  for (i = 0; i < kLong + kShort; ++i) {
    if (sent[i] != (unsigned char)(i % 251 + me)) check(0, "a byte of many, back");
  }
  LIDEREGISTER(memory);
  free(memory);
  free(sent);
}

/* After LIBARRIER puts are visible to all processes, not only to their target. */
static void seen_by_all(void) {
  enum { kMany = 10000 };
  static int many[kMany], sent[kMany];
  int a[2] = {-1, -1}, got = -1, i, j;
  LIREGISTER(a, sizeof(a));
  LIREGISTER(many, sizeof(many));
  commit();
  for (i = 0; i < 200; ++i) {
    LIPUT(next, &i, a, 0, sizeof(int));
    superstep();
    LIGET(next, a, 0, &got, sizeof(int));
    LIPUT(next, &i, a, sizeof(int), sizeof(int));
    superstep();
    check(got == i && a[1] == i, "what was put a superstep before");
  }
  /* what is put later is there, be it long and before it short */
  for (i = 0; i < 200; ++i) {
    LIPUT(next, &me, many, 0, sizeof(int));
    superstep();
    for (j = 0; j < kMany; ++j) sent[j] = i;
    LIPUT(next, sent, many, 0, sizeof(many));
    superstep();
    check(many[0] == i && many[kMany - 1] == i, "what was put last");
    superstep(); /* nobody puts to what others still compare */
  }
  LIDEREGISTER(many);
  LIDEREGISTER(a);
}

/* Every length about that which goes another way, 2 to 64 KiB. */
static void around_limits(void) {
  enum { kMost = 66000 };
  unsigned char* const memory = malloc(kMost);
  unsigned char* const sent = malloc(kMost);
  int limit, bytes, i;
  LIREGISTER(memory, kMost);
  commit();
  for (limit = 2048; limit <= 65536; limit *= 2) {
    for (bytes = limit - 80; bytes <= limit + 8; bytes += 4) {
      for (i = 0; i < bytes; ++i) sent[i] = (unsigned char)(i % 251 + bytes);
      LIPUT(next, sent, memory, 0, (size_t)bytes);
      superstep();
      check(memcmp(memory, sent, (size_t)bytes) == 0, "a put of some length");
      superstep();
    }
  }
  LIDEREGISTER(memory);
  free(memory);
  free(sent);
}

/* --- random supersteps, beside a model of all processes' memory --- */

enum { kMost = 8, kPieces = 4, kBytes = 96, kOperations = 24 };

/* Piece kPieces is not registered. */
static unsigned char model[kMost][kPieces + 1][kBytes], before[kMost][kPieces + 1][kBytes];
static unsigned char is_read[kMost][kPieces + 1][kBytes], is_written[kMost][kPieces + 1][kBytes];
static unsigned char mine[kPieces + 1][kBytes];
static int registered[kMost][kPieces]; /* bytes */

static int has(unsigned char* marks, int bytes) { return memchr(marks, 1, (size_t)bytes) != NULL; }

static void register_piece(int piece) {
  int p;
  for (p = 0; p < size; ++p) registered[p][piece] = any(kBytes + 1);
  LIREGISTER(mine[piece], (size_t)registered[me][piece]);
}

static void one_operation(int with_labels) {
  const int is_put = any(2), origin = any(size), target = any(size), piece = any(kPieces);
  const int local = any(kPieces + 1), limit_there = registered[target][piece];
  const int bytes = any(limit_there < 20 ? limit_there + 1 : 20);
  const int there = any(limit_there - bytes + 1), here = any(kBytes - bytes + 1);
  const int from = is_put ? origin : target, to = is_put ? target : origin;
  const int from_piece = is_put ? local : piece, to_piece = is_put ? piece : local;
  const int from_at = is_put ? here : there, to_at = is_put ? there : here;
  if (has(&is_written[from][from_piece][from_at], bytes) ||
      has(&is_written[to][to_piece][to_at], bytes) || has(&is_read[to][to_piece][to_at], bytes)) {
    return; /* not sound */
  }
  memset(&is_read[from][from_piece][from_at], 1, (size_t)bytes);
  if (has(&is_read[to][to_piece][to_at], bytes)) return; /* from and to overlap */
  memset(&is_written[to][to_piece][to_at], 1, (size_t)bytes);
  memcpy(&model[to][to_piece][to_at], &before[from][from_piece][from_at], (size_t)bytes);
  if (origin != me) return;
  if (is_put) {
    (with_labels ? LIOPUT : LIPUT)(target, &mine[local][here], mine[piece], (size_t)there,
                                   (size_t)bytes);
  } else {
    (with_labels ? LIOGET : LIGET)(target, mine[piece], (size_t)there, &mine[local][here],
                                   (size_t)bytes);
  }
}

static void random_supersteps(void) {
  const int supersteps = stress_rounds(40, 4000);
  int i, p, step;
  if (me == 0) printf("%d random supersteps from seed %u on\n", supersteps, stress_seed());
  fflush(stdout);
  for (p = 0; p < size; ++p) {
    for (i = 0; i < (kPieces + 1) * kBytes; ++i) {
      model[p][i / kBytes][i % kBytes] = (unsigned char)any(256);
    }
  }
  memcpy(mine, model[me], sizeof(mine));
  for (i = 0; i < kPieces; ++i) register_piece(i);
  commit();
  for (step = 0; step < supersteps; ++step) {
    const int with_labels = any(2);
    memset(is_read, 0, sizeof(is_read));
    memset(is_written, 0, sizeof(is_written));
    memcpy(before, model, sizeof(model));
    for (i = any(kOperations); i >= 0; --i) one_operation(with_labels);
    if (with_labels) {
      for (i = kPieces - 1; i >= 0; --i) LIOSYNC(mine[i]);
      LIOBARRIER();
    } else {
      superstep();
    }
    check(memcmp(mine, model[me], sizeof(mine)) == 0, "the model");
    if (any(4) == 0) {
      const int piece = any(kPieces);
      LIDEREGISTER(mine[piece]);
      register_piece(piece);
      commit();
    }
    for (p = 0; p < size; ++p) model[p][any(kPieces + 1)][any(kBytes)] ^= 0x55;
    memcpy(mine, model[me], sizeof(mine));
    LIBARRIER(); /* nobody puts to what others still compare */
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"primitives", primitives},    {"labels", labels},           {"limit", limit},
      {"lengths", lengths},          {"seen by all", seen_by_all}, {"around limits", around_limits},
      {"random", random_supersteps}, {"forgotten", forgotten},     {"anew", anew},
  };
  const char* const name = argc > 1 ? argv[1] : "";
  size_t i;
  if (strcmp(name, "unused") == 0) {
    printf("one of %d: unused\n", LINPROCS());
    return 0;
  }
  LIBEGIN(LINPROCS());
  me = LIPID();
  size = LINPROCS();
  next = (me + 1) % size;
  previous = (me + size - 1) % size;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    /* 64 windows of more take seconds */
    const int is_left_out = cases[i].run == limit && size > 2 && !full_stress();
    if (strcmp(name, "sound") == 0 ? is_left_out : strcmp(name, cases[i].name) != 0) continue;
    cases[i].run();
    LIBARRIER();
    printf("process %d of %d: %s\n", me, size, cases[i].name);
  }
  LIEND();
  return 0;
}
