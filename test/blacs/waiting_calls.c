/* Every call of the BLACS that can wait, while a peer is in MPI_Send (test/support/wait_in_call.h).
   Calls of other types and shapes are of the same source. */

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "brigade/blacs_mpi.h"
#include "test/support/wait_in_call.h"

enum { kSends = 16 };

static int rank, context = -1, n; /* n numbers are sent */
static double* a;

static void gridinit(void) {
  context = Csys2blacs_handle(MPI_COMM_WORLD);
  Cblacs_gridinit(&context, "Row", 1, 2);
}
static void gridmap(void) {
  const int map[] = {0, 1};
  context = Csys2blacs_handle(MPI_COMM_WORLD);
  Cblacs_gridmap(&context, map, 1, 1, 2);
}
static void gridexit(void) { Cblacs_gridexit(context); }

/* --- from rank 1 to rank 0 --- */

static void rv2d(void) {
  rank == 0 ? Cdgerv2d(context, n, 1, a, n, 0, 1) : Cdgesd2d(context, n, 1, a, n, 0, 0);
}
static void tr_rv2d(void) {
  if (rank == 0) {
    Cdtrrv2d(context, "U", "N", n, 1, a, n, 0, 1);
  } else {
    Cdtrsd2d(context, "U", "N", n, 1, a, n, 0, 0);
  }
}
static void br2d(void) {
  if (rank == 0) {
    Cdgebr2d(context, "All", " ", n, 1, a, n, 0, 1);
  } else {
    Cdgebs2d(context, "All", " ", n, 1, a, n);
  }
}
static void row_br2d(void) {
  if (rank == 0) {
    Cdtrbr2d(context, "Row", "i", "L", "U", n, 1, a, n, 0, 1);
  } else {
    Cdtrbs2d(context, "Row", "i", "L", "U", n, 1, a, n);
  }
}

/* --- combines, and barriers --- */

static void sum2d(void) { Cdgsum2d(context, "All", " ", n, 1, a, n, -1, 0); }
static void sum2d_to_0(void) { Cdgsum2d(context, "Row", " ", n, 1, a, n, 0, 0); }
static void sum2d_to_1(void) { Cdgsum2d(context, "Row", "h", n, 1, a, n, 0, 1); }
static void amx2d(void) { Cdgamx2d(context, "All", " ", n, 1, a, n, NULL, NULL, -1, -1, 0); }
static void amn2d(void) {
  int* const places = malloc(2 * (size_t)n * sizeof(*places));
  Cdgamn2d(context, "Row", " ", n, 1, a, n, places, places + n, n, 0, 0);
  free(places);
}
static void barrier(void) { Cblacs_barrier(context, "All"); }
static void row_barrier(void) { Cblacs_barrier(context, "Row"); }

/* --- sends that wait for their receivers, since there is no memory for so many --- */

static void sends(void) {
  int i;
  for (i = 0; i < kSends; ++i) {
    rank == 0 ? Cdgesd2d(context, n, 1, a, n, 0, 1) : Cdgerv2d(context, n, 1, a, n, 0, 0);
  }
}
static void broadcasts(void) {
  int i;
  for (i = 0; i < kSends; ++i) {
    if (rank == 0) {
      Cdgebs2d(context, "All", " ", n, 1, a, n);
    } else {
      Cdgebr2d(context, "All", " ", n, 1, a, n, 0, 0);
    }
  }
}
static void one_send(void) {
  rank == 0 ? Cdgesd2d(context, n, 1, a, n, 0, 1) : Cdgerv2d(context, n, 1, a, n, 0, 0);
}
static void freebuff(void) {
  one_send();
  Cblacs_freebuff(context, 1);
}
static void end(void) {
  one_send();
  Cblacs_exit(1);
}

static const struct {
  const char* name;
  void (*call)(void);
} kCalls[] = {
    {"?gerv2d", rv2d},
    {"?trrv2d", tr_rv2d},
    {"?gebr2d", br2d},
    {"?trbr2d", row_br2d},
    {"?gsum2d to all", sum2d},
    {"?gsum2d to the caller", sum2d_to_0},
    {"?gsum2d to another", sum2d_to_1},
    {"?gamx2d", amx2d},
    {"?gamn2d", amn2d},
    {"blacs_barrier", barrier},
    {"blacs_barrier of a row", row_barrier},
    {"?gesd2d", sends},
    {"?gebs2d", broadcasts},
    {"blacs_freebuff", freebuff},
};

int main(int argc, char** argv) {
  /* One message beside its flag, some that are staged, and one that is read where it lies. */
  static const int kLengths[] = {1, 2000, 30000, 300000};
  size_t i, l;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  a = calloc(300000, sizeof(*a));
  wait_in_call("blacs_gridinit", rank, NULL, gridinit);
  wait_in_call("blacs_gridexit", rank, NULL, gridexit);
  wait_in_call("blacs_gridmap", rank, NULL, gridmap);
  for (l = 0; l < sizeof(kLengths) / sizeof(kLengths[0]); ++l) {
    for (i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); ++i) {
      char name[80];
      n = kLengths[l];
      snprintf(name, sizeof(name), "%s of %d numbers", kCalls[i].name, n);
      wait_in_call(name, rank, NULL, kCalls[i].call);
    }
  }
  wait_in_call("blacs_exit", rank, NULL, end);
  if (rank == 0) printf("all calls\n");
  free(a);
  MPI_Finalize();
  return 0;
}
