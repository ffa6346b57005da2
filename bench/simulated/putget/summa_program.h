// SUMMA on simulated machines, as Summa (bench/studies/putget/) has it: on a square grid of ranks
// each has a block of each matrix.
//
// Sources: van de Geijn and Watts, SUMMA; ARMCI, section 3.2.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_

#include <array>
#include <cstddef>

#include "bench/simulated/putget/program_rank.h"
#include "membuf/status.h"

namespace brigade::bench {

class SummaProgram {
 public:
  // Blocks of so many rows and columns, and chunks of so many, which divide them.
  SummaProgram(int side, int block, int width, int rank)
      : side_(side), block_(block), width_(width), row_(rank / side), column_(rank % side) {}

  // Of a chunk of each matrix; all of a rank's are the same memory.
  size_t bytes() const { return 2 * Chunk(); }
  void Expose(ProgramRank* me) const;
  Status Run(ProgramRank* me);

 private:
  using Landings = std::array<ProgramRank::Landing, 2>;  // of A and B

  size_t Chunk() const {
    return static_cast<size_t>(block_) * static_cast<size_t>(width_) * sizeof(double);
  }
  Status Start(int step, Landings* landings);
  Status RunByBroadcasts();
  Status RunByGets();

  const int side_;
  const int block_;
  const int width_;
  const int row_;
  const int column_;
  ProgramRank* me_ = nullptr;
  std::array<Landings, 2> arriving_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_
