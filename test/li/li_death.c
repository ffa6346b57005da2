/* A program of LI on three processes, of which process 2 is killed.
     li_death            prints the cases, and "in MPI" behind those in which they wait there
     li_death CASE       before a call in which the others wait for it
     li_death SEED       at some time
   Who is not told prints "process P: not told" and ends with exit code 0. */

#define _DEFAULT_SOURCE /* ualarm */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "brigade/li.h"
#include "test/support/end_alone.h"

enum { kVictim = 2, kLong = 300000 };

static int me, a[4], b[4], sent[4], got[4];
static char many[2 * kLong], from[kLong], to[kLong];

static void superstep(void) {
  LISYNC();
  LIBARRIER();
}

static void die(void) {
  if (me != kVictim) return;
  usleep(100000); /* the others wait, mostly */
  raise(SIGKILL);
}

/* --- what the others call meanwhile --- */

static void sync_puts(void) {
  if (me != kVictim) LIPUT(kVictim, from, many, (size_t)me * kLong, kLong);
  if (me != kVictim) LIPUT(kVictim, sent, a, (size_t)me * sizeof(int), sizeof(int));
  die();
  LISYNC();
}

static void sync_gets(void) {
  LIGET(kVictim, many, 0, to, kLong);
  LIGET(kVictim, a, 0, got, sizeof(int));
  die();
  LISYNC();
}

static void sync_nothing(void) {
  die();
  LISYNC();
}

static void barrier(void) {
  if (me != kVictim) LIPUT(kVictim, sent, a, (size_t)me * sizeof(int), sizeof(int));
  LISYNC();
  die();
  LIBARRIER();
}

static void osync(void) {
  if (me != kVictim) LIOPUT(kVictim, from, many, (size_t)me * kLong, kLong);
  die();
  LIOSYNC(many);
}

static void obarrier(void) {
  if (me != kVictim) LIOPUT(kVictim, sent, a, (size_t)me * sizeof(int), sizeof(int));
  LIOSYNC(a);
  die();
  LIOBARRIER();
}

static void commit(void) {
  die();
  LICOMMIT();
}

static void start(void) {
  LIREGISTER(b, sizeof(b));
  die();
  LIINIT();
}

static void give(void) {
  die();
  LIREGISTER(b, sizeof(b));
}

static void take_back(void) {
  die();
  LIDEREGISTER(a);
}

static void end(void) {
  die();
  LIEND();
  printf("process %d: not told\n", me);
  exit(EXIT_SUCCESS);
}

static void sometime(unsigned seed) {
  int p;
  srand(seed);
  if (me == kVictim) ualarm(1 + (useconds_t)(rand() % 50000), 0);
  for (;;) {
    for (p = 0; p < LINPROCS(); ++p) {
      if (p == me) continue;
      LIPUT(p, sent, a, (size_t)me * sizeof(int), sizeof(int));
      LIGET(p, b, 0, &got[p], sizeof(int));
      if (p == (me + 1) % LINPROCS()) LIPUT(p, from, many, 0, kLong);
      if (p != (me + 1) % LINPROCS()) LIGET(p, many, kLong, to, kLong);
    }
    superstep();
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
    const char* where;
  } cases[] = {
      {"sync_puts", sync_puts, ""},
      {"sync_gets", sync_gets, ""},
      {"sync_nothing", sync_nothing, ""},
      {"barrier", barrier, ""},
      {"osync", osync, ""},
      {"obarrier", obarrier, ""},
      {"commit", commit, ""},
      {"start", start, ""},
      {"give", give, "in MPI"},
      {"take_back", take_back, ""},
      {"end", end, ""},
  };
  size_t i;
  if (argc == 1) {
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
      printf("%s %s\n", cases[i].name, cases[i].where);
    }
    return 0;
  }
  LIBEGIN(LINPROCS());
  me = LIPID();
  LIREGISTER(a, sizeof(a));
  LIREGISTER(many, sizeof(many));
  LIINIT();
  LICOMMIT();
  if (atoi(argv[1]) > 0) {
    LIREGISTER(b, sizeof(b));
    LIINIT();
    LICOMMIT();
    sometime((unsigned)atoi(argv[1]));
  }
  superstep();
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  }
  superstep();
  printf("process %d: not told\n", me);
  LIEND();
  return 0;
}
