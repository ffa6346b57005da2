// The cells of the put/get study on simulated machines: NAS MG, NAS CG, SUMMA and molecular
// dynamics, each by messages, by puts or gets one after the other, and by early puts or gets.
//
// Source: ARMCI, section 3.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PUTGET_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PUTGET_CELLS_H_

#include <string>
#include <vector>

#include "bench/simulated/putget/program_rank.h"
#include "membuf/status.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

struct PutgetCell {
  std::string name;
  std::string study;  // "mg", "cg", "summa" or "md"
  int ranks = 1;
  // MG: points along each side. CG: order of the matrix. SUMMA: rows of a rank's block of A and C.
  // MD: atoms.
  int size = 1;
  // CG: nonzeros of the vectors it is made of. SUMMA: the width of chunks. MD: atoms along each
  // side of a task, at most.
  int detail = 1;
  double gflops = 1;  // of a rank
  int columns = 1;    // SUMMA: of a rank's block of A and C
};

// Returns the cases of a study on `ranks` ranks: MG and CG on a power of two, SUMMA on square
// grids, or with a width that is a multiple of the height, whose blocks are whole chunks; otherwise
// none. `orders`: of the matrices of SUMMA, which then are square; without, its blocks are.
std::vector<PutgetCell> PutgetCells(const std::string& study, int ranks,
                                    const std::vector<int>& orders = {});

// Simulates one iteration, product or step, and returns the virtual microseconds from a barrier
// until the last rank has finished; received data are checked.
Status SimulatePutget(const MachineDescription& machine, const PutgetCell& cell,
                      ProgramVariant variant, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PUTGET_CELLS_H_
