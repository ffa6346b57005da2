#include "windows/core/epochs.h"

#include <algorithm>
#include <string>

namespace brigade {

bool Epochs::Contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

Status Epochs::NoEpoch(int target) {
  return Invalid("no epoch is open for accesses to the memory of rank " + std::to_string(target) +
                 ": call fence, start or lock first");
}

Status Epochs::CheckFlush(int target) const {
  if (HasLock(target)) return Status();
  return Invalid("a flush of rank " + std::to_string(target) + ", where no lock is held");
}

Status Epochs::CheckFlushAll() const {
  if (has_locks()) return Status();
  return Invalid("a flush of all ranks, and a lock of none is held");
}

Status Epochs::CheckNotFenced(const char* call) const {
  if (!is_fenced_ || !has_accessed_) return Status();
  return Invalid(std::string(call) + " after operations in the epoch of a fence: call fence first");
}

Status Epochs::Fence(bool opens) {
  if (has_locks()) return Invalid("a fence while locks of the window are held");
  if (is_started_ || is_posted_) {
    return Invalid("a fence between start and complete, or between post and wait");
  }
  is_fenced_ = opens;
  has_accessed_ = false;
  return Status();
}

Status Epochs::CheckStart() const {
  if (is_started_) return Invalid("a start within another one: call complete first");
  if (has_locks()) return Invalid("a start while locks of the window are held");
  return CheckNotFenced("a start");
}

void Epochs::Start(const std::vector<int>& targets) {
  is_started_ = true;
  is_fenced_ = false;
  started_ = targets;
}

Status Epochs::CheckComplete() const {
  if (is_started_) return Status();
  return Invalid("a complete without a start");
}

Status Epochs::CheckPost() const {
  if (is_posted_) return Invalid("a post within another one: call wait first");
  return Status();
}

void Epochs::Post(const std::vector<int>& origins) {
  is_posted_ = true;
  is_fenced_ = false;
  posted_ = origins;
}

Status Epochs::CheckWait() const {
  if (is_posted_) return Status();
  return Invalid("a wait or test without a post");
}

Status Epochs::CheckLock(int target) const {
  if (hold_of_all_ != Hold::kNone) return Invalid("a lock while all are locked");
  if (hold_of(target) != Hold::kNone) {
    return Invalid("a lock of rank " + std::to_string(target) + ", which is held already");
  }
  if (is_started_) return Invalid("a lock between start and complete");
  return CheckNotFenced("a lock");
}

Status Epochs::UnlockOne(int target) {
  if (hold_of(target) == Hold::kNone) {
    return Invalid("an unlock of rank " + std::to_string(target) + ", where no lock is held");
  }
  SetLock(target, Hold::kNone);
  return Status();
}

Status Epochs::CheckLockAll() const {
  if (has_locks()) return Invalid("a lock of all while locks of the window are held");
  if (is_started_) return Invalid("a lock of all between start and complete");
  return CheckNotFenced("a lock of all");
}

Status Epochs::UnlockAll() {
  if (hold_of_all_ == Hold::kNone) return Invalid("an unlock of all without a lock of all");
  hold_of_all_ = Hold::kNone;
  return Status();
}

void Epochs::SetLock(int target, Hold how) {
  Hold& hold = holds_[static_cast<size_t>(target)];
  locked_ += (how != Hold::kNone) - (hold != Hold::kNone);
  if (how != Hold::kNone) is_fenced_ = false;
  hold = how;
}

}  // namespace brigade
