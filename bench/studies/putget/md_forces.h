// Forces between atoms, of which each rank has some: who computes which pair, and how positions get
// there and forces back.
//
// MdFolds is a force decomposition by messages. Ranks are a grid, and each has a block of the
// matrix of forces: the atoms of its row of the grid by those of its column. Positions are gathered
// along rows and columns, and forces are summed back, folded, along both. Of each pair one half is
// computed, by turns like the fields of a chessboard.
//
// MdTasks is one-sided. The half matrix is cut into square blocks, the tasks. A rank takes the next
// from a counter that all share, gets the positions, and accumulates the forces where they belong.
//
// A rank may compute each pair several times, as if its processor were slower than the others'.
//
// Source: ARMCI, section 3.3; folds after Plimpton.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/contenders/one_sided.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/pauses.h"
#include "membuf/status.h"

namespace brigade::bench {

class MdForces {
 public:
  virtual ~MdForces() = default;
  // Collective. From the positions of this rank's atoms the forces on them. `*potential` is of the
  // pairs that this rank has computed.
  virtual Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                         double* potential) = 0;
};

class MdFolds final : public MdForces {
 public:
  // Collective over `comm`. `times`: how often this rank computes each pair.
  MdFolds(MPI_Comm comm, const MdSystem& system, int times);
  ~MdFolds() override;
  Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                 double* potential) override;

 private:
  // The ranks of a row or column of the grid, and their atoms.
  struct Line {
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<MdRange> atoms;       // of its ranks
    std::vector<int> counts, places;  // in doubles, of each rank's
    std::vector<double> positions, forces;
  };

  double ComputeOnce();
  void Split(MPI_Comm comm, int color, int key, Line* line) const;
  static void Gather(const std::vector<double>& own, Line* line);
  static void Fold(Line* line, double* own);

  const MdSystem& system_;
  const int times_;
  Line row_, column_;
};

class MdTasks final : public MdForces {
 public:
  // Returns the doubles that every rank exposes.
  static int64_t WindowDoubles(const MdSystem& system, int ranks);
  // Local. `block`: the most atoms along a task. `ahead`: while a task is computed, the positions
  // of the next one and the number of the one after it are fetched, and the forces of the last one
  // are added. `times`: how often this rank computes each pair.
  MdTasks(const MdSystem& system, OneSided* window, int rank, int ranks, int block, bool ahead,
          const Pauses& pauses, int times);
  Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                 double* potential) override;

 private:
  struct Block {
    MdRange atoms;
    int owner;
    int64_t place;  // of their positions in the owner's window
  };
  // A task on its way through this rank.
  struct Work {
    std::array<const Block*, 2> blocks = {nullptr, nullptr};
    std::array<std::vector<double>, 2> positions, forces;
    std::array<std::unique_ptr<Pending>, 2> gets, adds;
  };

  // `*task` becomes the number of the next; ahead, of that which was requested before.
  Status TakeTask(size_t* task);
  Status AskForTask();
  Status StartGets(size_t task, Work* work);
  Status Finish(Work* work, double* potential);
  double ComputeOnce(Work* work) const;

  const MdSystem& system_;
  OneSided* const window_;
  const int rank_;
  const int times_;
  const bool ahead_;
  const int64_t forces_;   // where they begin in a window
  const int64_t counter_;  // where it is, in rank 0's
  std::vector<Block> blocks_;
  std::vector<std::pair<size_t, size_t>> tasks_;  // two blocks, or one twice
  std::array<Work, 2> work_;
  double taken_ = 0;
  std::unique_ptr<Pending> taking_;
  Pauses pauses_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_
