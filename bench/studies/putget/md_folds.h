// MdFolds: a force decomposition by messages.
//
// Ranks are a grid, and each has a block of the matrix of forces: the atoms of its row of the grid
// by those of its column. Positions are gathered along rows and columns, and forces are summed
// back, folded, along both. Of each pair one half is computed, by turns like the fields of a
// chessboard.
//
// Source: ARMCI, section 3.3; folds after Plimpton.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_FOLDS_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_FOLDS_H_

#include <vector>

#include "bench/studies/putget/md_forces.h"
#include "bench/studies/putget/md_system.h"
#include "membuf/status.h"

namespace brigade::bench {

// The ranks of a row or a column of the grid, in order, and their atoms.
struct MdLine {
  std::vector<MdRange> atoms;
  std::vector<int> counts, places;  // in doubles, of each rank's
  std::vector<double> positions, forces;
};

class MdFolds final : public MdForces {
 public:
  // How data get along this rank's row (if `along_row`) or column. Collective over these ranks.
  class Messages {
   public:
    virtual ~Messages() = default;
    // Fills `line->positions`. `own`: of this rank.
    virtual Status Gather(bool along_row, const std::vector<double>& own, MdLine* line) = 0;
    // Sums `line->forces` of all ranks; `own` receives the sums for this rank.
    virtual Status Fold(bool along_row, const MdLine& line, double* own) = 0;
    // In virtual time, where data have no values, takes the time of so many operations.
    virtual bool TakesTimeOf(double /*operations*/) { return false; }
  };
  // Local. `times`: how often this rank computes each pair.
  MdFolds(const MdSystem& system, Messages* messages, int rank, int ranks, int times);
  Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                 double* potential) override;

 private:
  double ComputeOnce();

  const MdSystem& system_;
  Messages* const messages_;
  const int times_;
  MdLine row_, column_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_FOLDS_H_
