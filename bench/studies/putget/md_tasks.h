// MdTasks: forces by gets and accumulates.
//
// The half matrix of forces is cut into square blocks, the tasks. A rank takes the next from a
// counter that all share, gets the positions, and accumulates the forces where they belong.
//
// Source: ARMCI, section 3.3.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_TASKS_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_TASKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/contenders/locked_window.h"
#include "bench/studies/putget/md_forces.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/pauses.h"
#include "membuf/status.h"

namespace brigade::bench {

class MdTasks final : public MdForces {
 public:
  struct Block {
    MdRange atoms;
    int owner;
    int64_t place;  // of their positions in the owner's window
  };

  // Returns the doubles that every rank exposes.
  static int64_t WindowDoubles(const MdSystem& system, int ranks);
  // Local. `block`: the most atoms along a task. `ahead`: while a task is computed, the positions
  // of the next one are fetched, and, if the window can, the number of the one after it; and the
  // forces of the last one are added. `times`: how often this rank computes each pair.
  MdTasks(const MdSystem& system, LockedWindow* window, int rank, int ranks, int block, bool ahead,
          const Pauses& pauses, int times);
  Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                 double* potential) override;

  // The parts of Compute. Local: fills this rank's window, before a barrier.
  void Prepare(const std::vector<double>& positions);
  // Collective. All forces are in the windows afterwards; in virtual time those of a task are 1.
  Status Share(double* potential);
  // Of all ranks, and of the forces of this rank in its window.
  const std::vector<Block>& blocks() const { return blocks_; }
  const double* forces() const { return window_->memory() + forces_; }

 private:
  // A task on its way through this rank.
  struct Work {
    std::array<const Block*, 2> blocks = {nullptr, nullptr};
    std::array<std::vector<double>, 2> positions, forces;
    std::array<std::unique_ptr<Pending>, 2> gets, adds;
  };

  // `*task` becomes the number of the next, or of that which was requested before.
  Status TakeTask(size_t* task);
  Status RequestTask();
  Status StartGets(size_t task, Work* work);
  Status Finish(Work* work, double* potential);
  double ComputeOnce(Work* work) const;

  const MdSystem& system_;
  LockedWindow* const window_;
  const int rank_;
  const int times_;
  const bool ahead_;
  const bool requests_;    // numbers of tasks, before it needs them
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

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_TASKS_H_
