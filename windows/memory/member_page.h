// MemberPage: what a member of a window shares beside its memory. Zeroed memory is a page of which
// nothing has happened yet.

#ifndef BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_
#define BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "windows/memory/cache_line.h"
#include "windows/sync/answering.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/process_lock.h"

namespace brigade {

// A handle.
class MemberPage {
 public:
  static size_t BytesFor(int members);
  // REQUIRES: `memory` is aligned to kLineBytes, and outlives the handle.
  MemberPage(std::byte* memory, int members) : memory_(memory), members_(members) {}

  // Who combines values in the member's memory, or replaces some that others may combine, holds
  // this meanwhile.
  ProcessLock& combining() const { return front().combining; }
  // Who calls locks(), holds this meanwhile.
  ProcessLock& queueing() const { return front().queueing; }
  // Whether the member does what it is asked while its caller is elsewhere.
  Answering& answering() const { return front().answering; }
  // Of the member's window.
  LockQueue locks() const;
  // Notifications that came from `source`.
  std::atomic<uint64_t>& notified(int source) const;

 private:
  // Each on a cache line of its own.
  struct Front {
    alignas(kLineBytes) ProcessLock combining;
    alignas(kLineBytes) ProcessLock queueing;
    alignas(kLineBytes) Answering answering;
  };

  Front& front() const { return *reinterpret_cast<Front*>(memory_); }

  std::byte* memory_;
  int members_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_MEMBER_PAGE_H_
