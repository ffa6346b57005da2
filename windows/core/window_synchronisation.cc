// The synchronisation of a window.

#include <algorithm>
#include <atomic>
#include <functional>
#include <vector>

#include "patterns/engine/pattern_call.h"
#include "windows/core/fences.h"
#include "windows/core/window.h"
#include "windows/rules.h"

namespace brigade {

// --- fence ---

// Behind its requests each rank sends each other one a kFence. Control messages of one rank are
// carried out in order, so a rank that has the kFence of all others has carried out all their
// requests: puts and the end of their epoch are one round. Among many ranks, a message from each to
// each takes longer than a sum. There each rank learns how many requests all others have sent it
// since the window was made, and waits until it has carried out as many. Neither ends before all
// ranks are in the fence.
//
// Where all goes by messages this is enough. A rank that leaves the fence has the data of others in
// its memory, and its own requests are sent, so that others need no further call of this rank. They
// may still be in the fence. The rank's next requests carry its count of fences, and wait in the
// inboxes of others until they have left it, too. A barrier is needed
// - if some ranks reach memory directly: nothing holds them back there;
// - in the checking mode, which takes all requests that have come for a part of the epoch that
// ends;
// - if memory is attached: only its owner finds out what is not, and the origin must learn it in
// time;
// - behind the last epoch: a window that is given back has no inbox.
//
// Source: MPI/SX, section 2, Fence.
Status Window::Fence(const FencePromise& promise) {
  return EndFence(promise, counters_.uses_flags() && size() <= rules::kMaxFenceFlagPeers);
}

Status Window::EndFence(const FencePromise& promise, bool meets_by_flags) {
  if (!promise.nothing_succeeds) GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.Fence(!promise.nothing_succeeds));
  FullFence();
  if (!promise.nothing_precedes && !is_direct()) {
    BRIGADE_RETURN_IF_ERROR(AwaitAllRequests());
    if (may_leave_early_ && !promise.nothing_succeeds) {
      FullFence();
      return Status();
    }
  }
  if (served_.checked.has_value()) {
    const WindowWait::ProgressGuard guard(&*wait_);
    served_.checked->EndAll();  // all has come, and no rank begins anything behind the fence
  }
  do {
    BRIGADE_RETURN_IF_ERROR(meets_by_flags ? MeetByFlags()
                                           : wait_->Run(group_.get(), PatternCall()));  // a barrier
    FullFence();
  } while (direct_access_->has_mailboxes() && direct_access_->EndFence(served_.memory));
  return Status();
}

Status Window::MeetByFlags() {
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);  // a forked child shares the flags
  counters_.SetFence();
  for (int r = 0; r < size(); ++r) WakeIfAsleep(r);
  int there = 0;  // so many members, from the first on
  return UntilSignalled("other ranks to call fence", [&] {
    while (there < size() && counters_.IsAtFence(there)) ++there;
    return there == size();
  });
}

Status Window::AwaitAllRequests() {
  uint64_t asked = 0;
  if (!message_access_->sends_fences()) BRIGADE_RETURN_IF_ERROR(SumRequests(&asked));
  const WindowWait::ProgressGuard guard(&*wait_);
  if (message_access_->sends_fences()) BRIGADE_RETURN_IF_ERROR(SendFences());
  // Answers that have not left yet would wait for this rank's next call.
  BRIGADE_RETURN_IF_ERROR(wait_->Until(/*by_message=*/true, "requests of other ranks", [&] {
    return IsDone(asked) && state()->sends_in_flight == 0 && !messages_->has_kept_frames();
  }));
  messages_->EndFence();
  if (messages_->inbox().has_work()) engine()->Move();  // what has waited for that
  return state()->failure;
}

Status Window::SendFences() {
  ++served_.fenced_by[static_cast<size_t>(rank())];
  // From the next one on, so that not all send to the same first.
  for (int distance = 1; distance < size(); ++distance) {
    BRIGADE_RETURN_IF_ERROR(
        message_access_->AddFrame((rank() + distance) % size(), RmaKind::kFence));
  }
  for (int r = 0; r < size(); ++r) BRIGADE_RETURN_IF_ERROR(message_access_->AwaitLocally(r));
  return Status();
}

Status Window::SumRequests(uint64_t* of_me) {
  std::vector<int64_t> asked(static_cast<size_t>(size()));
  {
    const WindowWait::ProgressGuard guard(&*wait_);
    for (int r = 0; r < size(); ++r) {
      BRIGADE_RETURN_IF_ERROR(message_access_->AwaitLocally(r));
      asked[static_cast<size_t>(r)] = static_cast<int64_t>(message_access_->requests(r));
    }
  }
  PatternCall sum;
  sum.pattern = Pattern::kAllReduce;
  sum.type = Element::kInt64;
  sum.topology.shape = Shape::kFree;
  sum.matrix.data = reinterpret_cast<std::byte*>(asked.data());
  BRIGADE_RETURN_IF_ERROR(
      StridedLayout::General(size(), 1, size(), sizeof(asked[0]), &sum.matrix.layout));
  BRIGADE_RETURN_IF_ERROR(wait_->Run(group_.get(), sum));
  *of_me = static_cast<uint64_t>(asked[static_cast<size_t>(rank())]);
  return Status();
}

bool Window::IsDone(uint64_t asked) const {
  if (message_access_->sends_fences()) {
    const uint64_t fences = served_.fenced_by[static_cast<size_t>(rank())];
    return std::all_of(served_.fenced_by.begin(), served_.fenced_by.end(),
                       [&](uint64_t told) { return told >= fences; });
  }
  uint64_t done = 0;
  for (int r = 0; r < size(); ++r) done += messages_->inbox().done_for(r);
  return done >= asked;
}

// --- post, start, complete, wait ---

// A rank that is about to sleep arms the doorbell, and looks at the flags once more behind that
// (transport/edge/doorbell.h).
void Window::WakeIfAsleep(int member) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler at least keeps the order
  if (router_.direct(member)->page().asleep().armed()) messages_->SendWake(member);
}

template <typename Over>
Status Window::UntilSignalled(const char* what, const Over& over) {
  return counters_.uses_flags() ? wait_->UntilFlag(&exposed_->page().asleep(), what, over)
                                : wait_->Until(/*by_message=*/true, what, over);
}

Status Window::Post(const std::vector<int>& origins) {
  GiveWhatIsWanted();
  for (const int origin : origins) BRIGADE_RETURN_IF_ERROR(router_.CheckRank(origin));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckPost());
  FullFence();
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  if (counters_.uses_flags()) {
    counters_.SetPost(origins);
    for (const int origin : origins) WakeIfAsleep(origin);
  } else {
    const RmaFrame post(RmaKind::kPost);
    for (const int origin : origins) BRIGADE_RETURN_IF_ERROR(messages_->SendFrame(origin, post));
  }
  epochs_.Post(origins);
  return Status();
}

Status Window::Start(const std::vector<int>& targets) {
  GiveWhatIsWanted();
  for (const int target : targets) BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckStart());
  const WindowWait::ProgressGuard guard(&*wait_);
  for (const int target : targets) {
    BRIGADE_RETURN_IF_ERROR(
        UntilSignalled("a target to post", [&] { return counters_.HasPosted(target); }));
    counters_.UsePost(target);
  }
  FullFence();
  epochs_.Start(targets);
  return Status();
}

Status Window::Complete() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckComplete());
  FullFence();
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  epochs_.Complete();
  if (counters_.uses_flags()) {  // all is done
    counters_.SetComplete(epochs_.started());
    for (const int target : epochs_.started()) WakeIfAsleep(target);
    return Status();
  }
  const std::vector<int> targets = epochs_.started();
  for (const int target : targets) {
    BRIGADE_RETURN_IF_ERROR(message_access_->AddFrame(target, RmaKind::kComplete));
  }
  for (const int target : targets) BRIGADE_RETURN_IF_ERROR(message_access_->AwaitLocally(target));
  return Status();
}

Status Window::EndExposure() {
  ProcessLock& combining = exposed_->page().combining();
  const bool has_mailboxes = direct_access_->has_mailboxes();
  if (has_mailboxes) BRIGADE_RETURN_IF_ERROR(wait_->UntilLocked(&combining));
  for (const int origin : epochs_.posted()) {
    counters_.UseComplete(origin);
    if (has_mailboxes) direct_access_->EndStart(origin, served_.memory);
    if (served_.checked.has_value()) served_.checked->EndAll(origin);
  }
  if (has_mailboxes) combining.Unlock();
  epochs_.Wait();
  FullFence();
  return Status();
}

Status Window::Wait() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckWait());
  const WindowWait::ProgressGuard guard(&*wait_);
  for (const int origin : epochs_.posted()) {
    BRIGADE_RETURN_IF_ERROR(
        UntilSignalled("an origin to complete", [&] { return counters_.HasCompleted(origin); }));
  }
  return EndExposure();
}

Status Window::Test(bool* over) {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckWait());
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(wait_->Look());
  *over = std::all_of(epochs_.posted().begin(), epochs_.posted().end(),
                      [&](int origin) { return counters_.HasCompleted(origin); });
  if (!*over) return Status();
  return EndExposure();
}

// --- locks ---

Status Window::BeginLock(LockKind kind, int target) {
  const TargetMemory* const reached = router_.direct(target);
  if (reached == nullptr) {
    return message_access_->AddFrame(target, RmaKind::kLock, 0, static_cast<uint8_t>(kind));
  }
  ProcessLock& queueing = reached->page().queueing();
  BRIGADE_RETURN_IF_ERROR(wait_->UntilLocked(&queueing));
  bool granted = false;
  const Status status =
      reached->page().locks().Request(rank(), kind, /*by_message=*/false, &granted);
  queueing.Unlock();
  return status;
}

Status Window::AwaitLock(int target) {
  const TargetMemory* const reached = router_.direct(target);
  if (reached != nullptr) {
    return wait_->Until(/*by_message=*/false, "the lock",
                        [&] { return reached->page().locks().Holds(rank()); });
  }
  const auto t = static_cast<size_t>(target);
  BRIGADE_RETURN_IF_ERROR(wait_->Until(/*by_message=*/true, "the lock",
                                       [&] { return served_.granted_by[t] > grants_used_[t]; }));
  ++grants_used_[t];
  return Status();
}

Status Window::EndLock(int target, MessageAccess::Flush* flush) {
  const TargetMemory* const reached = router_.direct(target);
  if (reached == nullptr) return message_access_->BeginUnlock(target, flush);
  if (served_.checked.has_value()) served_.checked->EndAll(target);
  std::vector<int> granted;
  ProcessLock& queueing = reached->page().queueing();
  BRIGADE_RETURN_IF_ERROR(wait_->UntilLocked(&queueing));
  const Status status = reached->page().locks().Release(rank(), &granted);
  queueing.Unlock();
  BRIGADE_RETURN_IF_ERROR(status);
  const RmaFrame grant(RmaKind::kGranted, static_cast<uint32_t>(target));
  for (const int origin : granted) BRIGADE_RETURN_IF_ERROR(messages_->SendFrame(origin, grant));
  return Status();
}

Status Window::Lock(LockKind kind, int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLock(target));
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  // Before it waits, so that a second lock by another thread is found.
  epochs_.LockOne(target, Epochs::Hold::kLock);
  Status status = BeginLock(kind, target);
  if (status.ok()) status = AwaitLock(target);
  if (!status.ok()) (void)epochs_.UnlockOne(target);
  return status;
}

Status Window::LockUnchecked(int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLock(target));
  epochs_.LockOne(target, Epochs::Hold::kPromise);
  return Status();
}

Status Window::Unlock(int target) {
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  if (epochs_.hold_of(target) == Epochs::Hold::kPromise) {
    const Status flushed = Flush(target);
    (void)epochs_.UnlockOne(target);
    return flushed;
  }
  FullFence();
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(epochs_.UnlockOne(target));
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  MessageAccess::Flush flush;
  BRIGADE_RETURN_IF_ERROR(EndLock(target, &flush));
  return message_access_->AwaitFlush(target, flush);
}

Status Window::LockAll() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLockAll());
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  epochs_.LockAll(Epochs::Hold::kLock);
  Status status;
  for (int r = 0; r < size() && status.ok(); ++r) status = BeginLock(LockKind::kShared, r);
  for (int r = 0; r < size() && status.ok(); ++r) status = AwaitLock(r);
  if (!status.ok()) (void)epochs_.UnlockAll();
  return status;
}

Status Window::LockAllUnchecked() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLockAll());
  epochs_.LockAll(Epochs::Hold::kPromise);
  return Status();
}

Status Window::UnlockAll() {
  if (epochs_.hold_of_all() == Epochs::Hold::kPromise) {
    const Status flushed = FlushAll();
    (void)epochs_.UnlockAll();
    return flushed;
  }
  FullFence();
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(epochs_.UnlockAll());
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  std::vector<MessageAccess::Flush> flushes(static_cast<size_t>(size()));
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(EndLock(r, &flushes[static_cast<size_t>(r)]));
  }
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(message_access_->AwaitFlush(r, flushes[static_cast<size_t>(r)]));
  }
  return Status();
}

Status Window::Flush(int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlush(target));
  FullFence();
  if (reaches(target)) {
    EndOwn(FlushedPart::kAll);
    // A caller that flushes again and again waits for what others write here, by messages perhaps.
    return is_direct() && target != rank() ? LookNowAndThen() : Progress();
  }
  const WindowWait::ProgressGuard guard(&*wait_);
  MessageAccess::Flush flush;
  BRIGADE_RETURN_IF_ERROR(message_access_->BeginFlush(target, FlushedPart::kAll, &flush));
  if (flush.token == 0) BRIGADE_RETURN_IF_ERROR(wait_->Look());
  return message_access_->AwaitFlush(target, flush);
}

Status Window::FlushAll() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlushAll());
  FullFence();
  if (epochs_.HasLock(rank())) EndOwn(FlushedPart::kAll);
  if (is_direct()) return LookNowAndThen();
  const WindowWait::ProgressGuard guard(&*wait_);
  std::vector<MessageAccess::Flush> flushes(static_cast<size_t>(size()));
  bool asks = false;
  for (int r = 0; r < size(); ++r) {
    if (!epochs_.HasLock(r)) continue;
    BRIGADE_RETURN_IF_ERROR(
        message_access_->BeginFlush(r, FlushedPart::kAll, &flushes[static_cast<size_t>(r)]));
    asks = asks || flushes[static_cast<size_t>(r)].token != 0;
  }
  if (!asks) BRIGADE_RETURN_IF_ERROR(wait_->Look());
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(message_access_->AwaitFlush(r, flushes[static_cast<size_t>(r)]));
  }
  return Status();
}

Status Window::FlushLocal(int target) {
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlush(target));
  if (reaches(target)) {
    EndOwn(FlushedPart::kReads);
    return LookNowAndThen();
  }
  const WindowWait::ProgressGuard guard(&*wait_);
  BRIGADE_RETURN_IF_ERROR(wait_->Look());
  if (!served_.checked.has_value()) return message_access_->AwaitLocally(target);
  MessageAccess::Flush flush;
  BRIGADE_RETURN_IF_ERROR(message_access_->BeginFlush(target, FlushedPart::kReads, &flush));
  return message_access_->AwaitFlush(target, flush);
}

Status Window::FlushLocalAll() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlushAll());
  for (int r = 0; r < size(); ++r) {
    if (epochs_.HasLock(r)) BRIGADE_RETURN_IF_ERROR(FlushLocal(r));
  }
  return Status();
}

Status Window::Sync() {
  GiveWhatIsWanted();
  FullFence();
  return Progress();
}

// --- notification ---

bool Window::HasNotifications(int source, uint64_t count) const {
  return exposed_->page().notified(source).load(std::memory_order_acquire) -
             notifications_used_[static_cast<size_t>(source)] >=
         count;
}

bool Window::TakeNotifications(int source, uint64_t count) {
  if (!HasNotifications(source, count)) return false;
  notifications_used_[static_cast<size_t>(source)] += count;
  return true;
}

Status Window::NotifyWait(int source, uint64_t count) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(source));
  if (TakeNotifications(source, count)) return Status();
  const WindowWait::ProgressGuard guard(&*wait_);
  do {  // another thread may take them before
    BRIGADE_RETURN_IF_ERROR(wait_->Until(/*by_message=*/!router_.some_are_direct(),
                                         "a notification",
                                         [&] { return HasNotifications(source, count); }));
  } while (!TakeNotifications(source, count));
  return Status();
}

Status Window::NotifyTest(int source, uint64_t count, bool* taken) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(router_.CheckRank(source));
  *taken = TakeNotifications(source, count);
  if (*taken) return Status();
  BRIGADE_RETURN_IF_ERROR(Progress());
  *taken = TakeNotifications(source, count);
  return Status();
}

Status Window::WaitFor(const std::atomic<bool>& over) {
  const WindowWait::ProgressGuard guard(&*wait_);
  return wait_->Until(/*by_message=*/true, "an operation",
                      [&] { return over.load(std::memory_order_acquire); });
}

Status Window::WaitForMemory(const char* what, const std::function<bool()>& over) {
  const WindowWait::ProgressGuard guard(&*wait_);
  return wait_->Until(/*by_message=*/false, what, over);
}

}  // namespace brigade
