// Molecular dynamics on simulated machines: the forces of one step, as MdTasks and MdFolds
// (bench/studies/putget/) compute them. Each rank owns as many atoms.
//
// Sources: ARMCI, section 3.3; folds after Plimpton.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_MD_PROGRAM_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_MD_PROGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/simulated/putget/program_rank.h"
#include "membuf/status.h"

namespace brigade::bench {

class MdProgram {
 public:
  // `block`: atoms along each side of a task, at most.
  MdProgram(int atoms, int block, int rank, int ranks);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  // Of a rank: positions, forces, and the counter of tasks.
  size_t bytes() const { return counter_ + sizeof(int64_t); }
  void Expose(ProgramRank* me) const;
  Status Run(ProgramRank* me);

 private:
  // Atoms of one rank.
  struct Block {
    int owner;
    int first, count;
    size_t place() const { return static_cast<size_t>(first) * 3 * sizeof(double); }
    size_t bytes() const { return static_cast<size_t>(count) * 3 * sizeof(double); }
  };
  // Between the request of a task's positions and the end of its sums.
  struct Work {
    std::array<const Block*, 2> blocks = {};
    std::array<ProgramRank::PendingGet, 2> positions;
    std::array<std::vector<double>, 2> forces;
    std::array<std::atomic<bool>, 2> summed = {true, true};
  };

  Status RunByFolds();
  Status RunByTasks();
  Status StartGets(size_t task, Work* work);
  Status Finish(Work* work);
  Status CheckForces() const;

  const int atoms_;
  const int per_rank_;
  const int rank_;
  const int ranks_;
  int rows_ = 1;
  int columns_ = 1;
  const size_t forces_;   // place
  const size_t counter_;  // place, on rank 0
  std::vector<Block> blocks_;
  std::vector<std::pair<size_t, size_t>> tasks_;
  std::array<Work, 2> work_;
  ProgramRank* me_ = nullptr;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_MD_PROGRAM_H_
