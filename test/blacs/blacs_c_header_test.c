/* A C program written against blacs.h alone: a 2 x 2 grid, a broadcast in each row and a sum over
   all, on matrices with a leading dimension of their own. Run with 4 processes; compiled for
   integers of either width. */

#include <stdio.h>

#include "brigade/blacs.h"

enum { kRows = 3, kColumns = 2, kLd = 5 };

static int failures;

static void Expect(double actual, double expected, const char* what) {
  if (actual == expected) return;
  fprintf(stderr, "%s is %g, expected %g\n", what, actual, expected);
  ++failures;
}

int main(void) {
  blacs_int process, processes, context, nprow, npcol, row, column;
  double a[kLd * kColumns];
  blacs_int wide[2] = {0, 0};

  Cblacs_pinfo(&process, &processes);
  Expect(processes, 4, "number of processes");
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row-major", 2, 2);
  Cblacs_gridinfo(context, &nprow, &npcol, &row, &column);
  Expect(nprow * 10 + npcol, 22, "shape of the grid");
  Expect(Cblacs_pnum(context, row, column), process, "pnum");

  /* From the second column to the first: the elements (i, j) = 100 row + 10 i + j. */
  for (int j = 0; j < kColumns; ++j) {
    for (int i = 0; i < kLd; ++i) {
      const int filled = column == 1 && i < kRows;
      a[j * kLd + i] = filled ? 100 * row + 10 * i + j : -1;
    }
  }
  if (column == 1) {
    Cdgebs2d(context, "Row", "I-ring", kRows, kColumns, a, kLd);
  } else {
    Cdgebr2d(context, "Row", "I-ring", kRows, kColumns, a, kLd, row, 1);
  }
  Cdgsum2d(context, "All", " ", kRows, kColumns, a, kLd, -1, -1);
  for (int j = 0; j < kColumns; ++j) {
    for (int i = 0; i < kLd; ++i) {
      Expect(a[j * kLd + i], i < kRows ? 200 + 4 * (10 * i + j) : -1, "element");
    }
  }

  /* All bits of an integer, whichever width it has. */
  if (row == 0) {
    wide[1] = (blacs_int)1 << (8 * sizeof(blacs_int) - 2);
    Cigesd2d(context, 2, 1, wide, 2, 1, column);
  } else {
    Cigerv2d(context, 2, 1, wide, 2, 0, column);
  }
  Expect((double)wide[1], (double)((blacs_int)1 << (8 * sizeof(blacs_int) - 2)), "integer");

  Cblacs_gridexit(context);
  Cblacs_exit(0);
  return failures != 0;
}
