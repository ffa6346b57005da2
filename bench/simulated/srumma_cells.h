// The cells of SRUMMA's study on simulated machines: a product on a square grid of ranks, one block
// of each matrix on each, by gets in each order and by SUMMA's broadcasts. Messages as in
// transport/sim; a rank computes at a given rate, and reads memory of its host in place.
//
// Source: SRUMMA, sections 3.1 and 4.3.

#ifndef BRIGADE_BENCH_SIMULATED_SRUMMA_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_SRUMMA_CELLS_H_

#include "transport/machines/machine_description.h"
#include "windows/multiply/multiply_call.h"

namespace brigade::bench {

struct SrummaCell {
  int side = 1;       // of the grid, whose ranks are numbered row by row
  int block = 1;      // rows and columns of a rank's block
  double gflops = 1;  // of a rank
  // Whether adapters alone move data. Otherwise the processors of both sides copy each message
  // between staging memory and its place, and do not compute meanwhile.
  bool zero_copy = true;

  int ranks() const { return side * side; }
  // Without any wait.
  double ComputeMicroseconds() const;
};

struct SrummaOutcome {
  double us = 0;  // until the last rank has its block of C
  // The most messages that go from one host to one other in the same step.
  int contention = 0;
};

// By gets of panels that are `width` wide, `depth` of each matrix on their way while a rank
// computes. REQUIRES: it divides a block.
SrummaOutcome SimulateSrumma(const MachineDescription& machine, const SrummaCell& cell,
                             MultiplyOrder order, int depth, int width);
// By broadcasts along rows and columns, each rank to the next, of chunks that are `width` wide: a
// rank passes a chunk on when it has computed with the one before. REQUIRES: it divides a block.
SrummaOutcome SimulateSumma(const MachineDescription& machine, const SrummaCell& cell, int width);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_SRUMMA_CELLS_H_
