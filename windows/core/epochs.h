// Epochs: the epochs of a window that are open on this rank, by fence, start, post and locks. A
// call that the open epochs do not allow is an error that names it.
//
// Source: MPI-3.1, section 11.5.

#ifndef BRIGADE_WINDOWS_CORE_EPOCHS_H_
#define BRIGADE_WINDOWS_CORE_EPOCHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"

namespace brigade {

// More than 25 public methods: each of MPI's synchronisation calls has a check and a transition.
class Epochs {
 public:
  // kPromise: no lock is taken, since the caller promises that none conflicts (MPI_MODE_NOCHECK).
  enum class Hold : uint8_t { kNone, kLock, kPromise };

  explicit Epochs(int members) : holds_(static_cast<size_t>(members)) {}

  // Returns kInvalidArgument if no epoch allows an operation on `target`. Otherwise counts the
  // operation as one of the epoch, which a fence may have opened.
  Status BeginAccess(int target) {
    if (!is_fenced_ && !HasLock(target) && !HasStarted(target)) return NoEpoch(target);
    has_accessed_ = true;
    return Status();
  }
  // Return kInvalidArgument if no lock is held that allows a flush: of `target`, of any member.
  Status CheckFlush(int target) const;
  Status CheckFlushAll() const;
  bool HasStarted(int target) const { return is_started_ && Contains(started_, target); }
  bool HasLock(int target) const {
    return hold_of_all_ != Hold::kNone || hold_of(target) != Hold::kNone;
  }

  // Each returns kInvalidArgument, and changes nothing, if the call is out of order.
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
  Status UnlockOne(int target);
  Status CheckLockAll() const;
  void LockAll(Hold how) {
    hold_of_all_ = how;
    is_fenced_ = false;
  }
  Status UnlockAll();

  // The targets and the origins of the last Start and Post.
  const std::vector<int>& started() const { return started_; }
  const std::vector<int>& posted() const { return posted_; }
  bool has_locks() const { return hold_of_all_ != Hold::kNone || locked_ > 0; }
  // By LockOne alone, and by LockAll.
  Hold hold_of(int target) const { return holds_[static_cast<size_t>(target)]; }
  Hold hold_of_all() const { return hold_of_all_; }

 private:
  static Status NoEpoch(int target);
  static bool Contains(const std::vector<int>& ranks, int rank);
  // Returns kInvalidArgument, naming `call`, if an operation has begun in the epoch of a fence.
  Status CheckNotFenced(const char* call) const;
  void SetLock(int target, Hold how);

  bool is_fenced_ = false;     // the last fence opened an epoch
  bool has_accessed_ = false;  // an operation has begun in it
  Hold hold_of_all_ = Hold::kNone;
  int locked_ = 0;           // targets of LockOne
  std::vector<Hold> holds_;  // by target
  bool is_started_ = false;
  std::vector<int> started_;  // targets
  bool is_posted_ = false;
  std::vector<int> posted_;  // origins
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_EPOCHS_H_
