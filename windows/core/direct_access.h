// DirectAccess: operations on memory that this rank reaches without messages: by load and store, by
// the kernel's copies, or, if they are short, through the mailbox of private memory.
//
// The kernel takes 2 us to reach another process's private memory, however short the data. So a
// short put between fences, or from start to complete, is left in the target's mailbox, which the
// target empties where the epoch ends. A short get between fences is a question in that mailbox,
// and the answer lies in this rank's mailbox behind the next round of the fence.

#ifndef BRIGADE_WINDOWS_CORE_DIRECT_ACCESS_H_
#define BRIGADE_WINDOWS_CORE_DIRECT_ACCESS_H_

#include <cstddef>
#include <optional>

#include "membuf/status.h"
#include "windows/core/epoch_counters.h"
#include "windows/core/epochs.h"
#include "windows/core/router.h"
#include "windows/core/window_wait.h"
#include "windows/memory/exposed_memory.h"
#include "windows/memory/short_put_mailboxes.h"
#include "windows/message/rma_request.h"
#include "windows/sync/process_lock.h"

namespace brigade {

class DirectAccess {
 public:
  // All must outlive it.
  DirectAccess(const Router* router, const Epochs* epochs, const EpochCounters* counters,
               WindowWait* wait)
      : router_(*router), epochs_(*epochs), counters_(*counters), wait_(*wait) {}

  // REQUIRES: router->has_mailboxes().
  void OpenMailboxes();
  bool has_mailboxes() const { return mailboxes_.has_value(); }
  // Makes memory for this rank's mailboxes once another rank has wanted to use one.
  void MakeWantedMailboxes(ExposedMemory* exposed);

  // Returns kInvalidArgument if a request reaches memory that its target has not attached.
  Status CheckAttached(const RmaRequest& request);

  // Leaves a short put, or the question of a short get, in the target's mailbox. Returns false, and
  // does nothing, if there is none, or no room, or if it would not pay.
  bool TryMailbox(const RmaRequest& request) {
    return mailboxes_.has_value() && router_.IsPrivate(request.rank) && LeaveInMailbox(request);
  }
  // Blocks until the target has emptied its mailbox of past fences, behind which its memory is
  // reached otherwise.
  Status AwaitMailboxRead(int target) {
    return !mailboxes_.has_value() || mailboxes_->HasRead(target) ? Status() : AwaitRead(target);
  }
  // Takes back what lies in a target's mailbox, and carries it out by the kernel.
  Status DeliverMailbox(int target);
  // Ends of epochs, at the owner of `memory`.
  bool EndFence(std::byte* memory) { return mailboxes_->EndFence(memory); }
  void EndStart(int origin, std::byte* memory) {
    mailboxes_->EndStart(counters_.completes_used(origin), origin, memory);
  }

  // Carries a request out. REQUIRES: it is not empty, and was resolved.
  Status Run(const RmaRequest& request);

 private:
  bool LeaveInMailbox(const RmaRequest& request);
  Status AwaitRead(int target);
  Status Combine(const RmaRequest& request);
  Status FetchOne(const RmaRequest& request, size_t bytes);
  Status Swap(const RmaRequest& request);
  // Acquires a lock that another rank holds for a moment at most.
  Status TakeLock(ProcessLock* lock);
  // Returns the outcome of work on a member's memory: a failure breaks the window.
  Status Reached(int target, const Status& outcome);

  const Router& router_;
  const Epochs& epochs_;
  const EpochCounters& counters_;
  WindowWait& wait_;
  std::optional<ShortPutMailboxes> mailboxes_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_DIRECT_ACCESS_H_
