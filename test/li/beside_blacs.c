/* A program of both LI and the BLACS: they have one engine, and so one staging memory, which must
   be of 64 MiB or more. Prints "process P: both" at its end. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brigade/blacs.h"
#include "brigade/li.h"

static double summed(int context, double value) {
  Cdgsum2d(context, "All", " ", 1, 1, &value, 1, -1, 0);
  return value;
}

/* MiB that this process has. */
static int mapped(void) {
  FILE* const file = fopen("/proc/self/statm", "r");
  long pages = 0;
  const int found = fscanf(file, "%ld", &pages);
  fclose(file);
  return found == 1 ? (int)(pages * sysconf(_SC_PAGESIZE) >> 20) : -1;
}

int main(void) {
  const int size = LINPROCS();
  int context, me, more, got = -1, status = -1;
  LIBEGIN(size);
  me = LIPID();
  LICOMMIT();
  more = -mapped();
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, size);
  more += mapped();
  if (more >= 64) {
    printf("process %d: the grid takes %d MiB\n", me, more);
    fflush(stdout);
    LIABORT();
  }
  LIREGISTER(&got, sizeof(got));
  LIINIT();
  LICOMMIT();
  LIPUT((me + 1) % size, &me, &got, 0, sizeof(me));
  if (summed(context, me) != size * (size - 1) / 2.0) LIABORT(); /* within a superstep */
  LISYNC();
  LIBARRIER();
  if (got != (me + size - 1) % size) LIABORT();
  LIDEREGISTER(&got);
  if (summed(context, 1) != size) LIABORT();
  Cblacs_exit(1); /* whoever ends first, the other goes on */
  LIREGISTER(&got, sizeof(got));
  LIINIT();
  LICOMMIT();
  LIPUT(me, &size, &got, 0, sizeof(size));
  LISYNC();
  LIBARRIER();
  if (got != size) LIABORT();
  const pid_t child = fork();
  if (child == 0) exit(EXIT_SUCCESS); /* which does not end the program of its parent */
  waitpid(child, &status, 0);
  if (status != 0) LIABORT();
  printf("process %d: both\n", me);
  LIEND();
  return 0;
}
