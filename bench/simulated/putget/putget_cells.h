// The cells of the put/get study on simulated machines: NAS MG, NAS CG and SUMMA, each by messages,
// by puts or gets one after the other, and with what can go ahead under way ahead.
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

// The cases of a study on so many ranks: MG and CG a power of two, SUMMA where there is a grid that
// is as wide as high or a multiple of that, otherwise none.
std::vector<PutgetCell> PutgetCells(const std::string& study, int ranks);

// Virtual microseconds from when all have met until the last rank is done with one iteration, or
// product; what arrives is checked.
Status SimulatePutget(const MachineDescription& machine, const PutgetCell& cell, ProgramWay way,
                      double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PUTGET_CELLS_H_
