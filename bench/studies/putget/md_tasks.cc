#include <algorithm>
#include <cstddef>

#include "bench/studies/putget/md_forces.h"

namespace brigade::bench {
namespace {

int64_t MostOwned(const MdSystem& system, int ranks) {
  int most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, system.Owned(rank, ranks).count);
  return most;
}

Status Await(std::unique_ptr<Pending>* one) {
  if (*one != nullptr) BRIGADE_RETURN_IF_ERROR((*one)->Wait());
  one->reset();
  return Status();
}

}  // namespace

// Positions, forces, and the counter.
int64_t MdTasks::WindowDoubles(const MdSystem& system, int ranks) {
  return 6 * MostOwned(system, ranks) + 1;
}

MdTasks::MdTasks(const MdSystem& system, OneSided* window, int rank, int ranks, int block,
                 bool ahead, const Pauses& pauses, int times)
    : system_(system),
      window_(window),
      rank_(rank),
      times_(times),
      ahead_(ahead),
      forces_(3 * MostOwned(system, ranks)),
      counter_(2 * forces_),
      pauses_(pauses) {
  for (int owner = 0; owner < ranks; ++owner) {
    const MdRange owned = system.Owned(owner, ranks);
    for (int first = 0; first < owned.count; first += block) {
      blocks_.push_back(
          {{owned.first + first, std::min(block, owned.count - first)}, owner, int64_t{3} * first});
    }
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (size_t j = i; j < blocks_.size(); ++j) tasks_.emplace_back(i, j);
  }
}

Status MdTasks::AskForTask() {
  pauses_.Take();
  return window_->StartFetchAndAdd(1, &taken_, 0, counter_, &taking_);
}

Status MdTasks::TakeTask(size_t* task) {
  if (ahead_) {
    BRIGADE_RETURN_IF_ERROR(Await(&taking_));
  } else {
    pauses_.Take();
    BRIGADE_RETURN_IF_ERROR(window_->FetchAndAdd(1, &taken_, 0, counter_));
  }
  *task = static_cast<size_t>(taken_);
  return Status();
}

Status MdTasks::StartGets(size_t task, Work* work) {
  pauses_.Take();
  work->blocks = {&blocks_[tasks_[task].first], &blocks_[tasks_[task].second]};
  for (size_t side = 0; side < 2; ++side) {
    const Block& block = *work->blocks[side];
    const auto doubles = static_cast<size_t>(3 * block.atoms.count);
    work->positions[side].resize(doubles);
    if (side == 1 && work->blocks[0] == work->blocks[1]) continue;
    BRIGADE_RETURN_IF_ERROR(window_->StartGet(work->positions[side].data(),
                                              static_cast<int64_t>(doubles), block.owner,
                                              block.place, &work->gets[side]));
  }
  return Status();
}

// Returns the potential of the task's pairs.
double MdTasks::ComputeOnce(Work* work) const {
  const bool is_diagonal = work->blocks[0] == work->blocks[1];
  double potential = 0;
  for (size_t side = 0; side < 2; ++side) {
    work->forces[side].assign(work->positions[side].size(), 0.0);
  }
  const double* const a = work->positions[0].data();
  const double* const b = is_diagonal ? a : work->positions[1].data();
  double* const on_a = work->forces[0].data();
  double* const on_b = is_diagonal ? on_a : work->forces[1].data();
  for (int i = 0; i < work->blocks[0]->atoms.count; ++i) {
    for (int j = is_diagonal ? i + 1 : 0; j < work->blocks[1]->atoms.count; ++j) {
      potential += system_.AddPair(a + ptrdiff_t{3} * i, b + ptrdiff_t{3} * j,
                                   on_a + ptrdiff_t{3} * i, on_b + ptrdiff_t{3} * j);
    }
  }
  return potential;
}

Status MdTasks::Finish(Work* work, double* potential) {
  const bool is_diagonal = work->blocks[0] == work->blocks[1];
  for (size_t side = 0; side < 2; ++side) {
    BRIGADE_RETURN_IF_ERROR(Await(&work->adds[side]));
    BRIGADE_RETURN_IF_ERROR(Await(&work->gets[side]));
  }
  double of_task = 0;
  for (int time = 0; time < times_; ++time) of_task = ComputeOnce(work);
  *potential += of_task;
  for (size_t side = 0; side < (is_diagonal ? 1 : 2); ++side) {
    const Block& block = *work->blocks[side];
    const std::vector<double>& forces = work->forces[side];
    const auto doubles = static_cast<int64_t>(forces.size());
    const int64_t place = forces_ + block.place;
    BRIGADE_RETURN_IF_ERROR(
        ahead_ ? window_->StartAdd(forces.data(), doubles, block.owner, place, &work->adds[side])
               : window_->Add(forces.data(), doubles, block.owner, place));
  }
  if (ahead_) return Status();
  // The memory of the forces is this rank's again.
  for (const Block* block : work->blocks) BRIGADE_RETURN_IF_ERROR(window_->Flush(block->owner));
  return Status();
}

Status MdTasks::Compute(const std::vector<double>& positions, std::vector<double>* forces,
                        double* potential) {
  double* const memory = window_->memory();
  std::copy(positions.begin(), positions.end(), memory);
  std::fill(memory + forces_, memory + counter_, 0.0);
  if (rank_ == 0) memory[counter_] = 0;
  *potential = 0;
  BRIGADE_RETURN_IF_ERROR(window_->Barrier());
  size_t task = 0;
  const auto start_ahead = [&](Work* work) {
    if (task >= tasks_.size()) return Status();
    BRIGADE_RETURN_IF_ERROR(AskForTask());
    return StartGets(task, work);
  };
  if (ahead_) BRIGADE_RETURN_IF_ERROR(AskForTask());
  BRIGADE_RETURN_IF_ERROR(TakeTask(&task));
  if (ahead_) BRIGADE_RETURN_IF_ERROR(start_ahead(work_.data()));
  for (size_t turn = 0; task < tasks_.size(); turn ^= 1) {
    Work* const work = &work_[turn];
    if (ahead_) {
      BRIGADE_RETURN_IF_ERROR(TakeTask(&task));
      BRIGADE_RETURN_IF_ERROR(start_ahead(&work_[turn ^ 1]));
      BRIGADE_RETURN_IF_ERROR(Finish(work, potential));
    } else {
      BRIGADE_RETURN_IF_ERROR(StartGets(task, work));
      BRIGADE_RETURN_IF_ERROR(Finish(work, potential));
      BRIGADE_RETURN_IF_ERROR(TakeTask(&task));
    }
  }
  for (Work& work : work_) {
    for (std::unique_ptr<Pending>& one : work.adds) BRIGADE_RETURN_IF_ERROR(Await(&one));
  }
  BRIGADE_RETURN_IF_ERROR(window_->Barrier());
  std::copy_n(memory + forces_, forces->size(), forces->begin());
  return Status();
}

}  // namespace brigade::bench
