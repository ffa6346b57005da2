// NAS MG: cycles of multigrid for Poisson's equation on a periodic cube, whose right side is a few
// random charges. Each rank has a part of every grid, down to the one with two points a side.
//
// Sources: RNR-91-002, section 2.2; NPB 2.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MG_SOLVER_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MG_SOLVER_H_

#include <string>
#include <vector>

#include "bench/studies/putget/mg_grid.h"
#include "bench/studies/putget/mg_halo.h"
#include "bench/studies/putget/pair_exchange.h"
#include "membuf/status.h"

namespace brigade::bench {

struct MgClass {
  char name;
  int points;  // along each side, a power of two
  int iterations;
  MgWeights smoother;
  double norm;  // of the residual, as verification expects it
};

// Null if there is no such class.
const MgClass* FindMgClass(char name);

class MgSolver {
 public:
  // Empty if there can be so many ranks, otherwise why not.
  static std::string WhyNot(int ranks);
  // Local. In virtual time, grids need no values, and ranks are any power of two for which
  // MgHalo::Fits.
  MgSolver(const MgClass& of, int rank, int ranks, bool has_values = true);

  // Returns the channels of Run.
  const std::vector<Channel>& channels() const { return halo_.channels(); }
  // Collective: the whole benchmark.
  Status Run(PairExchange* exchange, bool ahead);
  // Collective: one iteration alone.
  Status Iterate(PairExchange* exchange, bool ahead);
  // Of the last run, on this rank's points.
  double SumOfResidualSquares() const { return SumOfSquares(levels_.back().r); }
  // Empty if that, summed over all ranks, is what verification expects.
  std::string Check(double sum_of_squares) const;

 private:
  struct Level {
    const MgLevel* part;
    MgGrid u;
    MgGrid r;
  };

  void PlaceCharges();
  Status Fill(const Level& level, MgGrid* grid) const {
    return halo_.Fill(*level.part, grid, exchange_, ahead_);
  }
  Status UpdateResidual(const MgGrid& v, Level* level);
  Status Improve(Level* level);
  Status Cycle();

  const MgClass class_;
  const MgHalo halo_;
  std::vector<Level> levels_;  // from the coarsest on
  MgGrid v_;
  PairExchange* exchange_ = nullptr;
  bool ahead_ = false;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MG_SOLVER_H_
