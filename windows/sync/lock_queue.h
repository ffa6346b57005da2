// LockQueue: who holds the lock of one target's window, and who waits for it, in the order of the
// requests. A shared request behind an exclusive one waits for that, so nobody starves.
//
// Source: MPI/SX, section 2.3.

#ifndef BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_
#define BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_

#include <deque>
#include <vector>

#include "membuf/status.h"

namespace brigade {

enum class LockKind { kShared, kExclusive };

class LockQueue {
 public:
  // `origin` wants it. True if it has it now; else it is told of a grant later. kMismatch: it has
  // it, or waits for it, already.
  Status Request(int origin, LockKind kind, bool* granted);
  // `origin` gives it back. `granted`: who has it from now on, in the order of their requests.
  // kMismatch: it does not have it.
  Status Release(int origin, std::vector<int>* granted);
  // `origin` is lost: as if it had never asked. `granted` as of Release.
  void Forget(int origin, std::vector<int>* granted);

  bool is_free() const { return holders_.empty(); }
  // In no order.
  const std::vector<int>& holders() const { return holders_; }
  size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiter {
    int origin;
    LockKind kind;
  };

  bool MayEnter(LockKind kind) const {
    return holders_.empty() || (kind == LockKind::kShared && held_ == LockKind::kShared);
  }
  void Enter(const Waiter& request);
  void Grant(std::vector<int>* granted);

  LockKind held_ = LockKind::kShared;  // by the holders, if there are any
  std::vector<int> holders_;
  std::deque<Waiter> waiting_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_
