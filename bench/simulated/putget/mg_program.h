// NAS MG on simulated machines: one V-cycle and the residual behind it. Like MgSolver
// (bench/studies/putget/), but the whole grid is cut into any power of two of parts along each
// dimension. If a grid has fewer points along one than there are parts, every second, fourth or so
// on has a point, and the others rest; on the way back, parts with a point send the values between
// to those without.
//
// Sources: RNR-91-002, section 2.2; NPB 2; ARMCI, section 3.1.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_MG_PROGRAM_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_MG_PROGRAM_H_

#include <array>
#include <cstddef>
#include <vector>

#include "bench/simulated/putget/program_rank.h"
#include "membuf/status.h"

namespace brigade::bench {

class MgProgram {
 public:
  // `points` along each side, a power of two, as are `ranks`.
  MgProgram(int points, int rank, int ranks);

  // Whether every rank has points of the finest grid.
  static bool Fits(int points, int ranks);
  // Returns the bytes of the rank's slots.
  size_t bytes() const { return bytes_; }
  Status Run(ProgramRank* me);

 private:
  // The rank's part of a grid, along each dimension.
  struct Level {
    std::array<int, 3> points;
    std::array<int, 3> stride;  // parts from one that has points to the next
    bool takes_part = true;
    // By dimension: one slot if both neighbours are the same rank, otherwise two.
    std::array<std::vector<Slot>, 3> halo;
    // To the neighbours that have no points on the next coarser grid, or from those that have.
    std::vector<Slot> back;
    bool sends_back = false;

    double volume() const { return double(points[0]) * points[1] * points[2]; }
  };

  int RankAt(std::array<int, 3> part) const;
  Slot MakeSlot(int to, int from, size_t bytes);
  void MakeHalo(Level* level);
  void MakeBack(const Level& coarse, Level* level);
  // Bytes of one of a level's messages along a dimension: of all points, or of those that do not
  // depend on halo.
  size_t Face(const Level& level, size_t dimension, bool inner_only) const;
  bool IsCut(size_t dimension) const { return parts_[dimension] > 1; }

  Status Fill(Level* level);
  Status FillAhead(Level* level);
  Status Send(const Level& level, size_t dimension, size_t first, size_t bytes);
  Status Receive(const Level& level, size_t dimension, size_t first, size_t bytes);
  void End(Level* level, size_t dimension);
  Status BringBack(const Level& level);
  Status UpdateResidual(Level* level);
  Status Improve(Level* level);

  std::array<int, 3> parts_ = {1, 1, 1};
  std::array<int, 3> part_ = {0, 0, 0};
  size_t bytes_ = 0;
  std::vector<Level> levels_;  // from the coarsest on
  ProgramRank* me_ = nullptr;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_MG_PROGRAM_H_
