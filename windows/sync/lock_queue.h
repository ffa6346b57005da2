// LockQueue: who holds the lock of one target's window, and who waits for it, in the order of the
// requests. A shared request behind an exclusive one waits for that, so nobody starves.
//
// A table in memory that several processes may map; zeroed memory is a free lock. Origins that map
// it enter their requests and poll for their grant; the others send a request and get an answer.
//
// Source: MPI/SX, section 2, Locks.

#ifndef BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_
#define BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"

namespace brigade {

enum class LockKind : uint8_t { kShared, kExclusive };

// A handle. Origins are less than `members`. All calls but Holds are made one at a time, in
// whatever process.
class LockQueue {
 public:
  static size_t BytesFor(int members);
  // REQUIRES: `memory` is aligned to 8 bytes, and outlives the handle.
  LockQueue(std::byte* memory, int members);

  // `origin` wants it. True if it has it now. kMismatch: it has it, or waits for it, already.
  Status Request(int origin, LockKind kind, bool by_message, bool* granted);
  // `origin` gives it back. `granted_by_message`: the ranks that hold it from now on and need a
  // message, in the order of their requests. kMismatch: it does not have it.
  Status Release(int origin, std::vector<int>* granted_by_message);

  // May be called at any time. If it returns true, the origin also sees the writes of earlier
  // holders.
  bool Holds(int origin) const;

 private:
  enum class State : uint8_t { kNone, kWaits, kHolds };
  static_assert(std::atomic<State>::is_always_lock_free, "processes share it");
  // By origin.
  struct Entry {
    std::atomic<State> state;
    LockKind kind;
    bool by_message;
    int32_t behind;  // who waits behind it; here and below: origin + 1, or 0 for none
  };
  struct Front {
    int32_t holders;
    LockKind held;  // by the holders, if there are any
    int32_t first;  // of those who wait
    int32_t last;
  };

  Front& front() const { return *reinterpret_cast<Front*>(memory_); }
  Entry& entry(int origin) const;
  bool MayEnter(LockKind kind) const {
    return front().holders == 0 || (kind == LockKind::kShared && front().held == LockKind::kShared);
  }
  void Enter(int origin);
  void Grant(std::vector<int>* granted_by_message);

  std::byte* memory_;
  int members_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_SYNC_LOCK_QUEUE_H_
