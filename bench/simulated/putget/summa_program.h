// SUMMA on simulated machines, as Summa (bench/studies/putget/) has it: on a grid of ranks each has
// a block of each matrix. A grid is as wide as high, or a multiple of that; then B's blocks are
// higher than wide by as much.
//
// Sources: van de Geijn and Watts, SUMMA; ARMCI, section 3.2.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_

#include <array>
#include <cstddef>

#include "bench/simulated/putget/program_rank.h"
#include "bench/studies/putget/grid_rows.h"
#include "membuf/status.h"

namespace brigade::bench {

class SummaProgram {
 public:
  // Returns whether the columns of the grid are a multiple of its rows.
  static bool Fits(int ranks) { return ranks / GridRows(ranks) % GridRows(ranks) == 0; }
  // REQUIRES: Fits(ranks). `block`: rows and columns of a block; `width`: of a chunk, a divisor of
  // it.
  SummaProgram(int ranks, int block, int width, int rank)
      : rows_(GridRows(ranks)),
        columns_(ranks / rows_),
        chunks_(block / width),
        block_(block),
        width_(width),
        row_(rank / columns_),
        column_(rank % columns_) {}
  int rows() const { return rows_; }
  int columns() const { return columns_; }

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

  int steps() const { return columns_ * chunks_; }
  // Of a chunk: the column whose ranks have it of A, and the row whose ranks have it of B.
  int ColumnOf(int chunk) const { return chunk / chunks_; }
  int RowOf(int chunk) const { return ColumnOf(chunk) / (columns_ / rows_); }

  const int rows_;
  const int columns_;
  const int chunks_;  // of a block of A
  const int block_;
  const int width_;
  const int row_;
  const int column_;
  ProgramRank* me_ = nullptr;
  std::array<Landings, 2> arriving_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_SUMMA_PROGRAM_H_
