/* A program of BSPlib on three processes, of which process 2 is killed.
     bsp_death            prints the cases
     bsp_death CASE       before a call in which the others wait for it
     bsp_death SEED       at some time
   Who is not told prints "process P: not told" and ends with exit code 0. */

#define _DEFAULT_SOURCE /* ualarm */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "brigade/bsp.h"
#include "test/support/end_alone.h"

enum { kVictim = 2, kLong = 300000 };

static int me, a[4], got;
static char many[kLong], from[kLong], to[kLong];

static void die(void) {
  if (me != kVictim) return;
  usleep(100000); /* the others wait, mostly */
  raise(SIGKILL);
}

/* --- what the others call meanwhile --- */

static void sync_nothing(void) {
  die();
  bsp_sync();
}

static void sync_puts(void) {
  bsp_hpput(kVictim, from, many, 0, kLong);
  bsp_put(kVictim, &me, a, me * (int)sizeof(int), sizeof(int));
  die();
  bsp_sync();
}

static void sync_gets(void) {
  bsp_hpget(kVictim, many, 0, to, kLong);
  bsp_get(kVictim, a, 0, &got, sizeof(int));
  die();
  bsp_sync();
}

static void end(void) {
  die();
  bsp_end();
  printf("process %d: not told\n", me);
  exit(EXIT_SUCCESS);
}

static void sometime(unsigned seed) {
  int p;
  srand(seed);
  if (me == kVictim) ualarm(1 + (useconds_t)(rand() % 50000), 0);
  for (;;) {
    for (p = 0; p < bsp_nprocs(); ++p) {
      bsp_put(p, &me, a, me * (int)sizeof(int), sizeof(int));
      bsp_send(p, NULL, from, 1000);
    }
    bsp_hpget((me + 1) % bsp_nprocs(), many, 0, to, kLong);
    bsp_sync();
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"sync_nothing", sync_nothing},
      {"sync_puts", sync_puts},
      {"sync_gets", sync_gets},
      {"end", end},
  };
  size_t i;
  if (argc == 1) {
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) printf("%s\n", cases[i].name);
    return 0;
  }
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  bsp_push_reg(a, sizeof(a));
  bsp_push_reg(many, sizeof(many));
  bsp_sync();
  if (atoi(argv[1]) > 0) sometime((unsigned)atoi(argv[1]));
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  }
  bsp_sync();
  printf("process %d: not told\n", me);
  bsp_end();
  return 0;
}
