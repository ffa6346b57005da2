#include "bench/studies/putget/md_tasks.h"

#include <algorithm>

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

MdTasks::MdTasks(const MdSystem& system, LockedWindow* window, int rank, int ranks, int block,
                 bool ahead, const Pauses& pauses, int times)
    : system_(system),
      window_(window),
      rank_(rank),
      times_(times),
      ahead_(ahead),
      requests_(ahead && window->fetches_ahead()),
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

Status MdTasks::RequestTask() {
  if (!requests_) return Status();
  pauses_.Take();
  return window_->StartFetchAndAdd(1, &taken_, 0, counter_, &taking_);
}

Status MdTasks::TakeTask(size_t* task) {
  if (requests_) {
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
    if (block.owner == rank_ || (side == 1 && work->blocks[0] == work->blocks[1])) continue;
    const int64_t doubles = int64_t{3} * block.atoms.count;
    work->positions[side].resize(static_cast<size_t>(doubles));
    BRIGADE_RETURN_IF_ERROR(window_->StartGet(work->positions[side].data(), doubles, block.owner,
                                              block.place, &work->gets[side]));
  }
  return Status();
}

// Returns the potential of the task's pairs.
double MdTasks::ComputeOnce(Work* work) const {
  const bool is_diagonal = work->blocks[0] == work->blocks[1];
  const int rows = work->blocks[0]->atoms.count, columns = work->blocks[1]->atoms.count;
  const double pairs = double(rows) * columns / (is_diagonal ? 2 : 1);
  const bool has_values = !window_->TakesTimeOf(MdSystem::kOperationsOfPair * pairs);
  std::array<const double*, 2> positions;
  for (size_t side = 0; side < 2; ++side) {
    const Block& block = *work->blocks[side];
    work->forces[side].assign(static_cast<size_t>(3 * block.atoms.count), has_values ? 0.0 : 1.0);
    positions[side] = block.owner == rank_
                          ? window_->memory() + block.place
                          : work->positions[side == 1 && is_diagonal ? 0 : side].data();
  }
  if (!has_values) return 0;
  double* const on_a = work->forces[0].data();
  double* const on_b = work->forces[is_diagonal ? 0 : 1].data();
  double potential = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = is_diagonal ? i + 1 : 0; j < columns; ++j) {
      potential += system_.AddPair(positions[0] + ptrdiff_t{3} * i, positions[1] + ptrdiff_t{3} * j,
                                   on_a + ptrdiff_t{3} * i, on_b + ptrdiff_t{3} * j);
    }
  }
  return potential;
}

Status MdTasks::Finish(Work* work, double* potential) {
  const bool is_diagonal = work->blocks[0] == work->blocks[1];
  for (size_t side = 0; side < 2; ++side) {
    BRIGADE_RETURN_IF_ERROR(Await(&work->gets[side]));
    BRIGADE_RETURN_IF_ERROR(Await(&work->adds[side]));
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
  Prepare(positions);
  BRIGADE_RETURN_IF_ERROR(window_->Barrier());
  BRIGADE_RETURN_IF_ERROR(Share(potential));
  std::copy_n(this->forces(), forces->size(), forces->begin());
  return Status();
}

void MdTasks::Prepare(const std::vector<double>& positions) {
  double* const memory = window_->memory();
  std::copy(positions.begin(), positions.end(), memory);
  std::fill(memory + forces_, memory + counter_, 0.0);
  if (rank_ == 0) memory[counter_] = 0;
}

Status MdTasks::Share(double* potential) {
  *potential = 0;
  size_t task = 0;
  const auto start_ahead = [&](Work* work) {
    if (task >= tasks_.size()) return Status();
    BRIGADE_RETURN_IF_ERROR(RequestTask());
    return StartGets(task, work);
  };
  BRIGADE_RETURN_IF_ERROR(RequestTask());
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
  return window_->Barrier();
}

}  // namespace brigade::bench
