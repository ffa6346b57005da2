/* Programs of LI on three processes, each with one mistake, in superstep 2 if LI has begun.
     li_misuse CASE
   What is not found ends with "process P: not found" and exit code 0. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/li.h"

enum { kMany = 100 }; /* operations */

static int me, a[4], b[4], unknown[2];

static void superstep(void) {
  LISYNC();
  LIBARRIER();
}

/* --- what is always found --- */

static void range(void) {
  if (me == 1) LIPUT(2, b, a, 3 * sizeof(int), 2 * sizeof(int));
}

static void range_far(void) {
  if (me == 1) LIGET(0, a, (size_t)-1, b, 2);
}

static void label(void) {
  if (me == 1) LIPUT(2, b, unknown, 0, sizeof(int));
}

static void windows(void) {
  static int memory[MAX_LI_WINDOWS + 1];
  int i;
  for (i = 0; i < MAX_LI_WINDOWS - 2 + 1; ++i) LIREGISTER(&memory[i], sizeof(int));
}

static void pid(void) {
  if (me == 1) LIGET(3, a, 0, b, sizeof(int));
}

static void null_source(void) {
  if (me == 1) LIPUT(0, NULL, a, 0, sizeof(int));
}

/* Behind the static memory, which is registered. */
static void large_memory(void) { LIREGISTER(malloc(1), (size_t)1 << 31); }

static void negative_memory(void) { LIREGISTER(unknown, (size_t)-1); }

static void null_memory(void) { LIREGISTER(NULL, 0); }

static void twice(void) { LIREGISTER(a, 4); }

static void inside(void) { LIREGISTER(&a[2], 0); }

static void around(void) {
  LIREGISTER(&unknown[1], sizeof(int));
  LIREGISTER(unknown, sizeof(unknown));
}

static void not_open(void) {
  LIREGISTER(unknown, sizeof(unknown));
  LICOMMIT();
  if (me == 1) LIPUT(2, b, unknown, 0, sizeof(int));
}

static void not_committed(void) {
  LIREGISTER(unknown, sizeof(unknown));
  LIINIT();
  if (me == 1) LIPUT(2, b, unknown, 0, sizeof(int));
}

static void no_sync(void) {
  if (me == 1) LIPUT(2, b, a, 0, sizeof(int));
  LIBARRIER();
}

static void used_commit(void) {
  if (me == 1) LIPUT(2, b, a, 0, sizeof(int));
  LICOMMIT();
}

static void used_deregister(void) {
  if (me == 1) LIPUT(2, b, a, 0, sizeof(int));
  LISYNC();
  LIDEREGISTER(a);
}

static void used_end(void) {
  if (me == 1) LIPUT(2, b, a, 0, sizeof(int));
  LISYNC();
  LIEND();
}

static void behind_end(void) {
  LIEND();
  LISYNC();
}

static void begun_twice(void) { LIBEGIN(LINPROCS()); }

static void give_up(void) {
  if (me == 1) LIABORT();
}

static void early_exit(void) {
  if (me == 1) exit(EXIT_SUCCESS);
}

/* --- what the checking mode finds --- */

static void source(void) {
  if (me == 1) {
    LIPUT(0, &b[0], a, 0, sizeof(int));
    LIPUT(2, &b[1], a, 0, sizeof(int));
    b[1] = 7;
  }
}

static void two_puts(void) {
  if (me == 0) LIPUT(2, b, a, 0, 2 * sizeof(int));
  if (me == 1) LIPUT(2, b, a, sizeof(int), 2 * sizeof(int));
}

static void put_and_get(void) {
  if (me == 0) LIPUT(2, b, a, 0, 2 * sizeof(int));
  if (me == 1) LIGET(2, a, sizeof(int), unknown, sizeof(int));
}

static void onto_source(void) {
  if (me == 2) LIPUT(0, &a[1], b, 0, sizeof(int));
  if (me == 0) LIPUT(2, unknown, a, sizeof(int), sizeof(int));
}

static void two_results(void) {
  if (me == 1) {
    LIGET(0, a, 0, unknown, sizeof(int));
    LIGET(2, a, 0, unknown, sizeof(int));
  }
}

/* The last of more operations than travel together. */
static void many(void) {
  static char bytes[kMany];
  int i;
  if (me == 0) LIPUT(2, a, b, 0, 1);
  for (i = kMany - 1; me == 1 && i >= 0; --i) LIGET(2, b, (size_t)(i % 4 + (i > 0)), &bytes[i], 1);
}

static void other_call(void) {
  if (me == 1) LICOMMIT();
}

static void other_memory(void) {
  LIOSYNC(me == 1 ? a : b);
  LIOSYNC(me == 1 ? b : a);
}

static void early_end(void) {
  if (me == 1) {
    LIDEREGISTER(a);
    LIDEREGISTER(b);
  }
}

/* --- what it suspects --- */

static void order(void) {
  static char x[8], y[16];
  LIREGISTER(me == 1 ? y : x, me == 1 ? 16 : 8);
  LIREGISTER(me == 1 ? x : y, me == 1 ? 8 : 16);
  LIINIT();
  LICOMMIT();
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"range", range},
      {"range_far", range_far},
      {"label", label},
      {"windows", windows},
      {"pid", pid},
      {"null_source", null_source},
      {"large_memory", large_memory},
      {"negative_memory", negative_memory},
      {"null_memory", null_memory},
      {"twice", twice},
      {"inside", inside},
      {"around", around},
      {"not_open", not_open},
      {"not_committed", not_committed},
      {"no_sync", no_sync},
      {"used_commit", used_commit},
      {"used_deregister", used_deregister},
      {"used_end", used_end},
      {"behind_end", behind_end},
      {"begun_twice", begun_twice},
      {"give_up", give_up},
      {"early_exit", early_exit},
      {"source", source},
      {"two_puts", two_puts},
      {"put_and_get", put_and_get},
      {"onto_source", onto_source},
      {"two_results", two_results},
      {"many", many},
      {"other_call", other_call},
      {"other_memory", other_memory},
      {"early_end", early_end},
      {"order", order},
  };
  const char* const name = argc > 1 ? argv[1] : "";
  size_t i;
  if (strcmp(name, "not_begun") == 0) LISYNC();
  if (strcmp(name, "not_begun_by_all") == 0 && (LINPROCS(), getenv("BRIGADE_TEST_LEAVES")))
    return 0;
  LIBEGIN(LINPROCS() + (strcmp(name, "processes") == 0));
  me = LIPID();
  LIREGISTER(a, sizeof(a));
  LIREGISTER(b, sizeof(b));
  LIINIT();
  LICOMMIT();
  superstep();
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(name, cases[i].name) == 0) cases[i].run();
  }
  superstep();
  LIEND();
  printf("process %d: not found\n", me);
  return 0;
}
