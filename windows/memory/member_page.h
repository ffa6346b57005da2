// MemberPage: what a member of a window shares beside its memory. Zeroed memory is a page of which
// nothing has happened yet.

#ifndef BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_
#define BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "membuf/check.h"
#include "transport/edge/doorbell.h"
#include "windows/memory/cache_line.h"
#include "windows/sync/answering.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/process_lock.h"

namespace brigade {

// A handle.
class MemberPage {
 public:
  static size_t BytesFor(int members);
  // REQUIRES: `memory` is aligned to kCacheLineBytes, and outlives the handle.
  MemberPage(std::byte* memory, int members) : memory_(memory), members_(members) {}

  // Held while values in the member's memory are combined, or replaced by others that may be
  // combined.
  ProcessLock& combining() const { return front().combining; }
  // Held during calls of locks().
  ProcessLock& queueing() const { return front().queueing; }
  // Whether the member serves requests while its caller is elsewhere.
  Answering& answering() const { return front().answering; }
  // Of the member's window.
  LockQueue locks() const;
  // Notifications that came from `source`.
  std::atomic<uint64_t>& notified(int source) const;

  // The epoch counters of another member, on a line to which it alone writes.
  struct EpochFlags {
    // How often it has come to a fence, posted its window to this member, and completed its access
    // to this member's window.
    alignas(kCacheLineBytes) std::atomic<uint64_t> fences;
    std::atomic<uint64_t> posts;
    std::atomic<uint64_t> completes;
  };
  // Pages of more members have no room for flags.
  static constexpr int kMaxFlagPeers = 64;
  EpochFlags& epoch_flags_of(int member) const {
    BRIGADE_CHECK_LE(0, member);
    BRIGADE_CHECK_LT(member, members_);
    BRIGADE_CHECK_LE(members_, kMaxFlagPeers);
    return reinterpret_cast<EpochFlags*>(memory_ + sizeof(Front))[member];
  }
  // Armed while the member may sleep until another sets a flag here: a control message wakes it.
  Doorbell& asleep() const { return front().asleep; }

 private:
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");
  // Each on a cache line of its own.
  struct Front {
    alignas(kCacheLineBytes) ProcessLock combining;
    alignas(kCacheLineBytes) ProcessLock queueing;
    alignas(kCacheLineBytes) Answering answering;
    alignas(kCacheLineBytes) Doorbell asleep;
  };

  Front& front() const { return *reinterpret_cast<Front*>(memory_); }

  std::byte* memory_;
  int members_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_
