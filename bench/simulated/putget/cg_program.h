// NAS CG on simulated machines: one outer iteration, as CgSolver (bench/studies/putget/) has it. Of
// the matrix only how much there is of it counts.
//
// Sources: RNR-91-002, section 2.4; NPB 2; ARMCI.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_CG_PROGRAM_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_CG_PROGRAM_H_

#include <cstddef>
#include <vector>

#include "bench/simulated/putget/program_rank.h"
#include "membuf/status.h"

namespace brigade::bench {

class CgProgram {
 public:
  // A matrix of order `n`, made of vectors with `nonzeros` nonzeros; `ranks` is a power of two.
  CgProgram(int n, int nonzeros, int rank, int ranks);

  // Returns the bytes of the rank's slots.
  size_t bytes() const { return bytes_; }
  Status Run(ProgramRank* me);

 private:
  Slot MakeSlot(int partner, int doubles);
  Status Part(const Slot& slot, int first, int count, bool begins);
  Status Multiply();
  Status MultiplyInHalves();
  Status Sum();

  // Of the rank's block. Blocks of orders that do not divide are as if they did, rounded up.
  int rows_ = 0;
  int columns_ = 0;
  double entries_ = 0;
  int kept_ = 0;  // the first row of a product that this rank's column of the grid needs
  bool transposes_ = false;
  size_t bytes_ = 0;
  std::vector<Slot> stages_;
  std::vector<Slot> sums_;
  Slot transpose_;
  ProgramRank* me_ = nullptr;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_CG_PROGRAM_H_
