#include "bench/simulated/putget/md_program.h"

#include <algorithm>

#include "bench/studies/putget/grid_rows.h"

namespace brigade::bench {
namespace {

// Of a pair of atoms: distance in a periodic box, its powers, and three components for each.
constexpr double kFlopsOfPair = 40;

}  // namespace

MdProgram::MdProgram(int atoms, int block, int rank, int ranks)
    : atoms_(atoms),
      per_rank_((atoms + ranks - 1) / ranks),
      rank_(rank),
      ranks_(ranks),
      rows_(GridRows(ranks)),
      columns_(ranks / rows_),
      forces_(static_cast<size_t>(per_rank_) * 3 * sizeof(double)),
      counter_(2 * forces_) {
  for (int owner = 0; owner < ranks; ++owner) {
    for (int first = 0; first < per_rank_; first += block) {
      blocks_.push_back({owner, first, std::min(block, per_rank_ - first)});
    }
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (size_t j = i; j < blocks_.size(); ++j) tasks_.emplace_back(i, j);
  }
}

void MdProgram::Expose(ProgramRank* me) const {
  for (const Block& block : blocks_) {
    if (block.owner == rank_) me->Expose(block.place(), block.bytes());
  }
}

Status MdProgram::Run(ProgramRank* me) {
  me_ = me;
  return me->variant() == ProgramVariant::kMessages ? RunByFolds() : RunByTasks();
}

// The pairs of the atoms of a row with those of a column of the grid, half of them.
Status MdProgram::RunByFolds() {
  for (const bool along_row : {true, false}) {
    BRIGADE_RETURN_IF_ERROR(me_->Collect(Pattern::kMultiBroadcast, along_row, forces_));
  }
  me_->Compute(kFlopsOfPair * atoms_ * atoms_ / 2 / ranks_);
  for (const bool along_row : {true, false}) {
    BRIGADE_RETURN_IF_ERROR(me_->Collect(Pattern::kMultiReduce, along_row, forces_));
  }
  return Status();
}

Status MdProgram::StartGets(size_t task, Work* work) {
  work->blocks = {&blocks_[tasks_[task].first], &blocks_[tasks_[task].second]};
  for (size_t side = 0; side < 2; ++side) {
    const Block& block = *work->blocks[side];
    if (block.owner == rank_ || (side == 1 && work->blocks[0] == work->blocks[1])) continue;
    BRIGADE_RETURN_IF_ERROR(
        me_->StartGet(block.owner, block.place(), block.bytes(), &work->positions[side]));
  }
  return Status();
}

Status MdProgram::Finish(Work* work) {
  for (size_t side = 0; side < 2; ++side) {
    BRIGADE_RETURN_IF_ERROR(me_->AwaitGet(&work->positions[side]));
    BRIGADE_RETURN_IF_ERROR(me_->AwaitOver(work->summed[side]));
  }
  const bool is_diagonal = work->blocks[0] == work->blocks[1];
  const double pairs = double(work->blocks[0]->count) * work->blocks[1]->count;
  me_->Compute(kFlopsOfPair * (is_diagonal ? pairs / 2 : pairs));
  for (size_t side = 0; side < (is_diagonal ? 1 : 2); ++side) {
    const Block& block = *work->blocks[side];
    work->forces[side].assign(static_cast<size_t>(block.count) * 3, 1.0);
    BRIGADE_RETURN_IF_ERROR(me_->StartAdd(block.owner, forces_ + block.place(), &work->forces[side],
                                          &work->summed[side]));
    if (!me_->ahead()) BRIGADE_RETURN_IF_ERROR(me_->AwaitOver(work->summed[side]));
  }
  return Status();
}

// Ahead, the next task's number and positions are under way while a rank computes.
Status MdProgram::RunByTasks() {
  std::array<int64_t, 2> numbers = {};
  std::array<std::atomic<bool>, 2> taken = {true, true};
  const auto take = [&](size_t turn) {
    return me_->StartFetchAndAdd(0, counter_, &numbers[turn], &taken[turn]);
  };
  const auto task_of = [&](size_t turn) { return static_cast<size_t>(numbers[turn]); };
  BRIGADE_RETURN_IF_ERROR(take(0));
  BRIGADE_RETURN_IF_ERROR(me_->AwaitOver(taken[0]));
  if (task_of(0) < tasks_.size()) BRIGADE_RETURN_IF_ERROR(StartGets(task_of(0), &work_[0]));
  for (size_t turn = 0; task_of(turn) < tasks_.size(); turn ^= 1) {
    if (!me_->ahead()) BRIGADE_RETURN_IF_ERROR(Finish(&work_[turn]));
    BRIGADE_RETURN_IF_ERROR(take(turn ^ 1));
    BRIGADE_RETURN_IF_ERROR(me_->AwaitOver(taken[turn ^ 1]));
    if (task_of(turn ^ 1) < tasks_.size()) {
      BRIGADE_RETURN_IF_ERROR(StartGets(task_of(turn ^ 1), &work_[turn ^ 1]));
    }
    if (me_->ahead()) BRIGADE_RETURN_IF_ERROR(Finish(&work_[turn]));
  }
  for (const Work& work : work_) {
    for (const std::atomic<bool>& summed : work.summed) {
      BRIGADE_RETURN_IF_ERROR(me_->AwaitOver(summed));
    }
  }
  BRIGADE_RETURN_IF_ERROR(me_->Meet());
  return CheckForces();
}

// Every block takes part in a task with each block.
Status MdProgram::CheckForces() const {
  for (const Block& block : blocks_) {
    if (block.owner != rank_) continue;
    BRIGADE_RETURN_IF_ERROR(
        me_->CheckSum(forces_ + block.place(), static_cast<double>(blocks_.size())));
  }
  return Status();
}

}  // namespace brigade::bench
