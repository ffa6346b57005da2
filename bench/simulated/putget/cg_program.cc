#include "bench/simulated/putget/cg_program.h"

#include <algorithm>

namespace brigade::bench {
namespace {

constexpr int kInnerIterations = 25;

}  // namespace

CgProgram::CgProgram(int n, int nonzeros, int rank, int ranks) {
  int grid_rows = 1, grid_columns = 1;
  while (grid_rows * grid_columns < ranks) {
    (grid_columns > grid_rows ? grid_rows : grid_columns) *= 2;
  }
  const int row = rank / grid_columns;
  const int column = rank % grid_columns;
  const int wider = grid_columns / grid_rows;
  columns_ = (n + grid_columns - 1) / grid_columns;
  rows_ = wider * columns_;
  // Few of the products of two entries fall on one place.
  entries_ = double(n) * (nonzeros + 1) * (nonzeros + 1) / ranks;
  for (int bit = 1; bit < grid_columns; bit *= 2) {
    const int partner = row * grid_columns + (column ^ bit);
    stages_.push_back(MakeSlot(partner, rows_));
    sums_.push_back(MakeSlot(partner, 2));
  }
  const int partner = column / wider * grid_columns + wider * row + column % wider;
  kept_ = column % wider * columns_;
  transposes_ = partner != rank;
  transpose_ = MakeSlot(partner, columns_);
}

Slot CgProgram::MakeSlot(int partner, int doubles) {
  const Slot slot{partner, partner, bytes_, static_cast<size_t>(doubles) * sizeof(double), 0};
  bytes_ += 2 * slot.bytes;
  return slot;
}

Status CgProgram::Part(const Slot& slot, int first, int count, bool begins) {
  const size_t at = static_cast<size_t>(first) * sizeof(double);
  const size_t bytes = static_cast<size_t>(count) * sizeof(double);
  return begins ? me_->Begin(slot, at, bytes) : me_->Await(slot, at, bytes);
}

Status CgProgram::Multiply() {
  me_->Compute(2 * entries_);
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    BRIGADE_RETURN_IF_ERROR(Part(stages_[stage], 0, rows_, true));
    BRIGADE_RETURN_IF_ERROR(Part(stages_[stage], 0, rows_, false));
    me_->Compute(stage + 1 < stages_.size() ? rows_ : columns_);
    ProgramRank::End(&stages_[stage]);
  }
  if (!transposes_) return Status();
  BRIGADE_RETURN_IF_ERROR(Part(transpose_, 0, columns_, true));
  BRIGADE_RETURN_IF_ERROR(Part(transpose_, 0, columns_, false));
  ProgramRank::End(&transpose_);
  return Status();
}

// While one half is on its way the other is computed, or summed.
Status CgProgram::MultiplyInHalves() {
  if (stages_.empty()) return Multiply();
  struct Half {
    int first, end;
    int count() const { return end - first; }
  };
  const Half halves[] = {{0, rows_ / 2}, {rows_ / 2, rows_}};
  for (const Half& half : halves) {
    me_->Compute(2 * entries_ * half.count() / rows_);
    BRIGADE_RETURN_IF_ERROR(Part(stages_[0], half.first, half.count(), true));
  }
  std::vector<Half> transposed;
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    const bool is_last = stage + 1 == stages_.size();
    for (const Half& half : halves) {
      BRIGADE_RETURN_IF_ERROR(Part(stages_[stage], half.first, half.count(), false));
      Half next = half;
      if (is_last) {
        next = {std::max(half.first, kept_) - kept_, std::min(half.end, kept_ + columns_) - kept_};
        if (next.count() <= 0) continue;
      }
      me_->Compute(next.count());
      if (is_last && !transposes_) continue;
      BRIGADE_RETURN_IF_ERROR(
          Part(is_last ? transpose_ : stages_[stage + 1], next.first, next.count(), true));
      if (is_last) transposed.push_back(next);
    }
    ProgramRank::End(&stages_[stage]);
  }
  // The partner keeps the same part.
  for (const Half& part : transposed) {
    BRIGADE_RETURN_IF_ERROR(Part(transpose_, part.first, part.count(), false));
  }
  if (transposes_) ProgramRank::End(&transpose_);
  return Status();
}

Status CgProgram::Sum() {
  for (Slot& slot : sums_) {
    BRIGADE_RETURN_IF_ERROR(Part(slot, 0, 2, true));
    BRIGADE_RETURN_IF_ERROR(Part(slot, 0, 2, false));
    ProgramRank::End(&slot);
  }
  return Status();
}

Status CgProgram::Run(ProgramRank* me) {
  me_ = me;
  me->Compute(2.0 * columns_);
  BRIGADE_RETURN_IF_ERROR(Sum());
  for (int i = 0; i <= kInnerIterations; ++i) {
    BRIGADE_RETURN_IF_ERROR(me->ahead() ? MultiplyInHalves() : Multiply());
    me->Compute((i < kInnerIterations ? 2.0 : 3.0) * columns_);
    BRIGADE_RETURN_IF_ERROR(Sum());
    if (i == kInnerIterations) break;  // that was the residual
    me->Compute(6.0 * columns_);
    BRIGADE_RETURN_IF_ERROR(Sum());
    me->Compute(2.0 * columns_);
  }
  me->Compute(4.0 * columns_);
  BRIGADE_RETURN_IF_ERROR(Sum());
  me->Compute(columns_);
  return Status();
}

}  // namespace brigade::bench
