// Epochs: which members' memory this rank may work on now, by the synchronisation that it has
// called, and which of these calls are in order.
//
// Source: MPI-3.1, section 11.5.

#ifndef BRIGADE_WINDOWS_CORE_EPOCHS_H_
#define BRIGADE_WINDOWS_CORE_EPOCHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"

namespace brigade {

class Epochs {
 public:
  // kPromise: no lock, since the caller promises that it could not conflict with another.
  enum class Hold : uint8_t { kNone, kLock, kPromise };

  explicit Epochs(int members) : holds_(static_cast<size_t>(members)) {}

  // kInvalidArgument: no epoch is open in which `target` may be worked on. Otherwise the caller
  // works on it, which begins the epoch that a fence has opened.
  Status BeginAccess(int target);
  bool MayAccess(int target) const { return is_fenced_ || HasLock(target) || HasStarted(target); }
  // kInvalidArgument: no lock that allows flushes is held: of `target`, of any member.
  Status CheckFlush(int target) const;
  Status CheckFlushAll() const;
  bool HasStarted(int target) const { return is_started_ && Contains(started_, target); }
  bool HasLock(int target) const {
    return hold_of_all_ != Hold::kNone || hold_of(target) != Hold::kNone;
  }

  // Each says kInvalidArgument, and changes nothing, if the call is out of order.
  Status Fence(bool opens);
  Status CheckStart() const;
  void Start(const std::vector<int>& targets);
  Status CheckComplete() const;
  void Complete() { is_started_ = false; }
  Status CheckPost() const;
  void Post(const std::vector<int>& origins);
  Status CheckWait() const;
  void Wait() { is_posted_ = false; }
  Status CheckLock(int target) const;
  void LockOne(int target, Hold how) { SetLock(target, how); }
  Status CheckUnlock(int target) const;
  void UnlockOne(int target) { SetLock(target, Hold::kNone); }
  Status CheckLockAll() const;
  Status CheckUnlockAll() const;
  void LockAll(Hold how) {
    hold_of_all_ = how;
    is_fenced_ = false;
  }
  void UnlockAll() { hold_of_all_ = Hold::kNone; }

  // Of the epoch that is open.
  const std::vector<int>& started() const { return started_; }
  const std::vector<int>& posted() const { return posted_; }
  bool has_locks() const { return hold_of_all_ != Hold::kNone || locked_ > 0; }
  // By LockOne alone, and by LockAll.
  Hold hold_of(int target) const { return holds_[static_cast<size_t>(target)]; }
  Hold hold_of_all() const { return hold_of_all_; }

 private:
  static bool Contains(const std::vector<int>& ranks, int rank);
  // kInvalidArgument, naming `call`: the epoch of a fence has begun.
  Status CheckNotFenced(const char* call) const;
  void SetLock(int target, Hold how);

  bool is_fenced_ = false;     // the last fence lets an epoch begin
  bool has_accessed_ = false;  // in it
  Hold hold_of_all_ = Hold::kNone;
  int locked_ = 0;           // by LockOne
  std::vector<Hold> holds_;  // by target
  bool is_started_ = false;
  std::vector<int> started_;  // targets
  bool is_posted_ = false;
  std::vector<int> posted_;  // origins
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_EPOCHS_H_
