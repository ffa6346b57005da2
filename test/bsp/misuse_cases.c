/* Programs that BSPlib's rules forbid, and what is said of them.
     misuse_cases         prints a line per case: its name, and what stderr shall say
     misuse_cases CASE    on 3 processes; never ends well
   In most it is process 2 that does wrong, in superstep 1, while the others wait for it. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "brigade/bsp.h"

static int me, x, y;

/* --- by one process: arguments --- */

static void put_unregistered(void) { bsp_put(0, &x, &y, 0, 1); }
static void put_beyond(void) { bsp_put(1, &y, &x, 1, sizeof(x)); }
static void get_beyond(void) { bsp_get(1, &x, 5, &y, 1); }
static void put_to_nobody(void) { bsp_put(3, &y, &x, 0, 1); }
static void pop_unregistered(void) { bsp_pop_reg(&y); }
static void send_to_nobody(void) { bsp_send(3, &y, &x, 1); }
static void send_more_than_memory(void) {
  const struct rlimit limit = {1 << 30, 1 << 30};
  setrlimit(RLIMIT_DATA, &limit);
  bsp_send(0, &x, &x, INT_MAX);
}
static void move_none(void) {
  bsp_move(&y, 1);
  bsp_move(&y, 1);
}
static void start(void) {}
static void exit_early(void) { exit(EXIT_SUCCESS); }

/* --- what all must do alike, and process 2 does not --- */

static void end_early(void) {
  bsp_end();
  exit(EXIT_SUCCESS);
}
static void push_more(void) { bsp_push_reg(&y, sizeof(y)); }
static void pop_more(void) { bsp_pop_reg(&x); }
static void tagsize_more(void) {
  int bytes = sizeof(int);
  bsp_set_tagsize(&bytes);
}

/* --- by all, and differently --- */

static void push_or_pop(void) {
  if (me == 2) bsp_pop_reg(&x);
  bsp_push_reg(&y, sizeof(y));
  if (me != 2) bsp_pop_reg(&x);
}
static void pop_others(void) {
  bsp_push_reg(&y, sizeof(y));
  bsp_pop_reg(me == 2 ? &y : &x);
}
static void pop_null_or_not(void) { bsp_pop_reg(me == 0 ? NULL : &x); }
static void pop_null(void) { bsp_pop_reg(NULL); }
static void tagsize_differs(void) {
  int bytes = me == 1 ? 2 : 3;
  bsp_set_tagsize(&bytes);
}

/* --- the order of calls --- */

static void sync_first(void) { bsp_sync(); }
static void pid_first(void) { bsp_pid(); }
static void put_behind(void) {
  bsp_begin(3);
  bsp_end();
  bsp_put(0, &x, &x, 0, 0);
}
static void end_twice(void) {
  bsp_begin(3);
  bsp_end();
  bsp_end();
}
static void begin_none(void) { bsp_begin(0); }
/* Before MPI is there, which nobody has started; as Open MPI says it, and others. */
static int rank(void) {
  const char* const of_open_mpi = getenv("OMPI_COMM_WORLD_RANK");
  return atoi(of_open_mpi != NULL ? of_open_mpi : getenv("PMI_RANK"));
}
static void begin_differs(void) { bsp_begin(rank() == 1 ? 2 : 3); }
static void begin_missing(void) {
  if (rank() != 1) bsp_begin(3);
  bsp_nprocs();
}
static void begin_missing_on_0(void) {
  if (rank() != 0) bsp_begin(3);
  bsp_nprocs();
}
static void init_null(void) { bsp_init(NULL, 0, NULL); }
static void idle(void) {
  if (rank() == 2) bsp_begin(3);
}
static void init_without_begin(void) {
  bsp_init(idle, 0, NULL);
  bsp_begin(3);
}
static void init_twice(void) {
  bsp_init(start, 0, NULL);
  bsp_init(start, 0, NULL);
}

static const struct {
  const char* name;
  enum { kByOne, kByAll, kWhole } kind;
  void (*run)(void);
  const char* text;
} cases[] = {
#define ONE(name, text) \
  { #name, kByOne, name, text }
    ONE(put_unregistered, "bsp_put on process 2, superstep 1: the memory at 0x"),
    ONE(put_beyond,
        "bsp_put on process 2, superstep 1: 4 bytes at offset 1 end 1 bytes beyond the 4 bytes "
        "that process 1 has registered"),
    ONE(get_beyond,
        "bsp_get on process 2, superstep 1: 1 bytes at offset 5 end 2 bytes beyond the 4 bytes"),
    ONE(put_to_nobody, "bsp_put on process 2, superstep 1: there is no process 3: they are 0 to 2"),
    ONE(pop_unregistered, "bsp_pop_reg on process 2, superstep 1: the memory at 0x"),
    ONE(send_to_nobody,
        "bsp_send on process 2, superstep 1: there is no process 3: they are 0 to 2"),
    ONE(send_more_than_memory,
        "bsp_send on process 2, superstep 1: this process has no memory left"),
    ONE(move_none, "bsp_move on process 2, superstep 1: no message is left"),
    ONE(exit_early, "exit on process 2, superstep 1: bsp_end has not been called"),
    ONE(end_early, "bsp_end on process 2, superstep 1: process 0 is in bsp_sync"),
    ONE(push_more,
        "bsp_push_reg on process 2, superstep 1: 1 calls of bsp_push_reg and bsp_pop_reg in this "
        "superstep, and 0 on process 0"),
    ONE(pop_more,
        "bsp_pop_reg on process 2, superstep 1: 1 calls of bsp_push_reg and bsp_pop_reg in this "
        "superstep, and 0 on process 0"),
    ONE(tagsize_more,
        "bsp_set_tagsize on process 2, superstep 1: 1 calls in this superstep, and 0 on process 0"),
#undef ONE
#define ALL(name, text) \
  { #name, kByAll, name, text }
    ALL(push_or_pop,
        "bsp_pop_reg on process 2, superstep 1: call 1 of bsp_push_reg and bsp_pop_reg in this "
        "superstep is bsp_pop_reg here, and bsp_push_reg on process 0"),
    ALL(pop_others,
        "bsp_pop_reg on process 2, superstep 1: call 2 of bsp_push_reg and bsp_pop_reg in this "
        "superstep pops another registration than on process 0"),
    ALL(pop_null_or_not,
        "bsp_pop_reg on process 1, superstep 1: call 1 of bsp_push_reg and bsp_pop_reg in this "
        "superstep pops another registration than on process 0"),
    ALL(pop_null,
        "bsp_pop_reg on process 0, superstep 1: NULL on all processes, and nothing is registered "
        "that is NULL on all"),
    ALL(tagsize_differs, "bsp_set_tagsize on process 1, superstep 1: 2 bytes, and 3 on process 0"),
#undef ALL
#define WHOLE(name, text) \
  { #name, kWhole, name, text }
    WHOLE(sync_first, "bsp_sync on process 0: bsp_begin must come first"),
    WHOLE(pid_first, "bsp_pid on process 0: bsp_begin must come first"),
    WHOLE(put_behind, "bsp_put on process 0: a call after bsp_end"),
    WHOLE(end_twice, "bsp_end on process 0: a call after bsp_end"),
    WHOLE(begin_none, "bsp_begin on process 0: its argument is 0: at least 1 process"),
    WHOLE(begin_differs, "bsp_begin on process 1: its argument is 2, and 3 on process 0"),
    WHOLE(begin_missing, "exit on process 1: bsp_begin has not been called, as on process 0"),
    WHOLE(begin_missing_on_0, "bsp_begin on process 1: process 0 has ended without it"),
    WHOLE(init_null, "bsp_init on process 0: its procedure is NULL"),
    WHOLE(init_without_begin,
          "bsp_init on process 1: its procedure has returned without bsp_begin"),
    WHOLE(init_twice, "bsp_init on process 0: called a second time"),
#undef WHOLE
};

int main(int argc, char** argv) {
  const size_t count = sizeof(cases) / sizeof(cases[0]);
  size_t i;
  int tag_bytes = sizeof(int);
  if (argc == 1) {
    for (i = 0; i < count; ++i) printf("%s %s\n", cases[i].name, cases[i].text);
    return 0;
  }
  for (i = 0; i < count - 1 && strcmp(cases[i].name, argv[1]) != 0;) ++i;
  if (cases[i].kind == kWhole) {
    cases[i].run();
    return 0;
  }
  bsp_begin(bsp_nprocs());
  me = bsp_pid();
  bsp_push_reg(&x, sizeof(x));
  bsp_set_tagsize(&tag_bytes);
  bsp_send(me, NULL, &x, sizeof(x));
  bsp_sync();
  if (cases[i].kind == kByAll || me == 2) cases[i].run();
  bsp_sync();
  bsp_end();
  return 0;
}
