// Epochs: which members' memory this rank may work on now, by the synchronisation that it has
// called, and which of these calls are in order.
//
// Source: MPI-3.1, section 11.5.

#ifndef BRIGADE_WINDOWS_CORE_EPOCHS_H_
#define BRIGADE_WINDOWS_CORE_EPOCHS_H_

#include <cstddef>
#include <vector>

#include "membuf/status.h"

namespace brigade {

class Epochs {
 public:
  explicit Epochs(int members) : locks_(static_cast<size_t>(members)) {}

  // kInvalidArgument: no epoch is open in which `target` may be worked on.
  Status CheckAccess(int target) const;
  bool MayAccess(int target) const {
    return is_fenced_ || lock_all_ || locks_[static_cast<size_t>(target)] ||
           (is_started_ && Contains(started_, target));
  }
  // kInvalidArgument: no lock that allows flushes is held.
  Status CheckFlush(int target) const;
  bool HasLock(int target) const { return lock_all_ || locks_[static_cast<size_t>(target)]; }

  // Each says kInvalidArgument, and changes nothing, if the call is out of order.
  Status Fence(bool opens);
  Status CheckStart() const;
  void Start(std::vector<int> targets);
  Status CheckComplete() const;
  void Complete() { is_started_ = false; }
  Status CheckPost() const;
  void Post(std::vector<int> origins);
  Status CheckWait() const;
  void Wait() { is_posted_ = false; }
  Status CheckLock(int target) const;
  void LockOne(int target) { SetLock(target, true); }
  Status CheckUnlock(int target) const;
  void UnlockOne(int target) { SetLock(target, false); }
  Status CheckLockAll() const;
  Status CheckUnlockAll() const;
  void LockAll(bool locked) {
    lock_all_ = locked;
    if (locked) is_fenced_ = false;
  }

  // Of the epoch that is open.
  const std::vector<int>& started() const { return started_; }
  const std::vector<int>& posted() const { return posted_; }
  bool has_locks() const { return lock_all_ || locked_ > 0; }

 private:
  static bool Contains(const std::vector<int>& ranks, int rank);
  void SetLock(int target, bool is_held);

  bool is_fenced_ = false;
  bool lock_all_ = false;
  int locked_ = 0;
  std::vector<bool> locks_;  // by target
  bool is_started_ = false;
  std::vector<int> started_;  // targets
  bool is_posted_ = false;
  std::vector<int> posted_;  // origins
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_EPOCHS_H_
