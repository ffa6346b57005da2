// The cells of the put/get study on simulated machines: NAS MG, NAS CG and SUMMA, each by messages,
// by puts or gets one after the other, and by early puts or gets.
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
  std::string study;  // "mg", "cg" or "summa"
  int ranks = 1;
  // MG: points along each side. CG: order of the matrix. SUMMA: rows and columns of a rank's block.
  int size = 1;
  int detail = 1;     // CG: nonzeros of the vectors it is made of; SUMMA: the width of chunks
  double gflops = 1;  // of a rank
};

// Returns the cases of a study on `ranks` ranks: MG and CG on a power of two, SUMMA on square
// grids, or with a width that is a multiple of the height; otherwise none.
std::vector<PutgetCell> PutgetCells(const std::string& study, int ranks);

// Simulates one iteration, or product, and returns the virtual microseconds from a barrier until
// the last rank has finished; received data are checked.
Status SimulatePutget(const MachineDescription& machine, const PutgetCell& cell, ProgramWay way,
                      double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PUTGET_CELLS_H_
