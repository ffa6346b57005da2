// The synchronisation of a window.

#include <algorithm>
#include <atomic>
#include <vector>

#include "membuf/rules.h"
#include "patterns/engine/pattern_call.h"
#include "windows/core/fences.h"
#include "windows/core/window.h"

namespace brigade {

Status Window::AddNote(int target, NoteKind kind, uint32_t token, uint8_t op) {
  Note note;
  note.kind = kind;
  note.token = token;
  note.op = op;
  return messages_->AddNote(target, note);
}

// --- what is under way ---

Status Window::AwaitLocally(int target) {
  if (messages_->outbox().under_way(target) == 0) return state()->failure;
  return wait_->Until(/*is_told=*/true, "data to go, or to come",
                      [&] { return messages_->outbox().under_way(target) == 0; });
}

Window::Asked Window::AsksAs(int target, uint32_t token) const {
  return {token, served_.flushed_by[static_cast<size_t>(target)],
          messages_->outbox().requests(target)};
}

Status Window::AskFlush(int target, FlushedPart part, Asked* asked) {
  *asked = Asked();
  if (requests_flushed_[static_cast<size_t>(target)] == messages_->outbox().requests(target)) {
    return Status();
  }
  *asked = AsksAs(target, NextToken());
  if (part != FlushedPart::kAll) asked->requests = 0;
  return AddNote(target, NoteKind::kFlush, asked->token, static_cast<uint8_t>(part));
}

Status Window::AwaitFlush(int target, const Asked& asked) {
  if (asked.token != 0) {
    const auto t = static_cast<size_t>(target);
    BRIGADE_RETURN_IF_ERROR(wait_->Until(
        /*is_told=*/true, "a target to have done what was asked",
        [&] { return IsFlushed(target, asked); }));
    requests_flushed_[t] = std::max(requests_flushed_[t], asked.requests);
  }
  return AwaitLocally(target);
}

bool Window::IsFlushed(int target, const Asked& asked) const {
  // Tokens come in the order in which they were sent, and wrap; later ones will do.
  const uint32_t flushed = served_.flushed_by[static_cast<size_t>(target)];
  return flushed - asked.before >= asked.token - asked.before;
}

uint32_t Window::NextToken() {
  if (++last_token_ == 0) ++last_token_;  // which means none
  return last_token_;
}

// --- fence ---

// Who has asked for something by messages says behind it that it is in the fence. Notes of one rank
// are heard in order: whoever has heard that of all others has done what they have asked for. So
// what was put and the end of its epoch are one round. Where ranks are many, a note of each to each
// takes longer than a sum: there each learns how much all others have asked of it since the window
// was made, and waits until it has done that. Neither ends before all are in the fence.
//
// Where all goes by messages that will do. Who leaves has in its memory what was done to it, and
// what it asked of others has been sent, so that they need no further call of its. They may not be
// so far. What it asks of them next says that it is behind the fence, and waits in their inboxes
// until they are, too. A barrier is needed all the same
// - where some reach memory directly: nobody holds them back there;
// - in the checking mode, which takes all that has come for a part of the epoch that ends;
// - where memory is attached: only its owner finds out what is not, and tells the origin in time;
// - behind the last epoch: a window that is given back has no inbox.
//
// Source: MPI/SX, section 2.1.
Status Window::Fence(const FencePromise& promise) {
  return EndFence(promise, speaks_in_pages_ && size() <= rules::kMostMeetingInPages);
}

Status Window::EndFence(const FencePromise& promise, bool meets_in_pages) {
  if (!promise.nothing_succeeds) GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.Fence(!promise.nothing_succeeds));
  FullFence();
  if (!promise.nothing_precedes && !is_direct_) {
    BRIGADE_RETURN_IF_ERROR(AwaitAllAsked());
    if (may_leave_early_ && !promise.nothing_succeeds) {
      FullFence();
      return Status();
    }
  }
  if (is_checked()) {
    const WindowWait::Turn turn(&*wait_);
    served_.checked->EndAll();  // all has come, and nobody begins anything behind the fence
  }
  do {
    BRIGADE_RETURN_IF_ERROR(meets_in_pages ? MeetInPages()
                                           : wait_->Run(group_.get(), PatternCall()));  // a barrier
    FullFence();
  } while (letters_.has_value() && letters_->EndFence(served_.memory));
  return Status();
}

Status Window::MeetInPages() {
  const WindowWait::Turn turn(&*wait_);
  const uint64_t fences = ++fences_;
  for (int r = 0; r < size(); ++r) {
    direct(r)->page().told_by(rank()).fences.store(fences, std::memory_order_release);
  }
  for (int r = 0; r < size(); ++r) WakeIfAsleep(r);
  int there = 0;  // so many members, from the first on
  return UntilSaid("others to come to a fence", [&] {
    while (there < size() &&
           exposed_->page().told_by(there).fences.load(std::memory_order_acquire) >= fences) {
      ++there;
    }
    return there == size();
  });
}

bool Window::all_tell() const { return size() <= rules::kMostRanksTelling; }

Status Window::AwaitAllAsked() {
  uint64_t asked = 0;
  if (!all_tell()) BRIGADE_RETURN_IF_ERROR(AddUpAsked(&asked));
  const WindowWait::Turn turn(&*wait_);
  if (all_tell()) BRIGADE_RETURN_IF_ERROR(TellOfFence());
  // Answers that have not left yet would wait for this rank's next call.
  BRIGADE_RETURN_IF_ERROR(wait_->Until(/*is_told=*/true, "what others have asked for", [&] {
    return IsDone(asked) && state()->sends_in_flight == 0 && !messages_->has_kept_notes();
  }));
  messages_->EndFence();
  if (messages_->inbox().has_work()) engine()->Move();  // what has waited for that
  return state()->failure;
}

Status Window::TellOfFence() {
  ++served_.fenced_by[static_cast<size_t>(rank())];
  // From the next one on, so that not all tell the same first.
  for (int distance = 1; distance < size(); ++distance) {
    BRIGADE_RETURN_IF_ERROR(AddNote((rank() + distance) % size(), NoteKind::kFence));
  }
  for (int r = 0; r < size(); ++r) BRIGADE_RETURN_IF_ERROR(AwaitLocally(r));
  return Status();
}

Status Window::AddUpAsked(uint64_t* of_me) {
  std::vector<int64_t> asked(static_cast<size_t>(size()));
  {
    const WindowWait::Turn turn(&*wait_);
    for (int r = 0; r < size(); ++r) {
      BRIGADE_RETURN_IF_ERROR(AwaitLocally(r));
      asked[static_cast<size_t>(r)] = static_cast<int64_t>(messages_->outbox().requests(r));
    }
  }
  PatternCall sum;
  sum.pattern = Pattern::kAllReduce;
  sum.type = ElementType::kInt64;
  sum.topology.shape = Shape::kFree;
  sum.matrix.data = reinterpret_cast<std::byte*>(asked.data());
  BRIGADE_RETURN_IF_ERROR(
      StridedLayout::General(size(), 1, size(), sizeof(asked[0]), &sum.matrix.layout));
  BRIGADE_RETURN_IF_ERROR(wait_->Run(group_.get(), sum));
  *of_me = static_cast<uint64_t>(asked[static_cast<size_t>(rank())]);
  return Status();
}

bool Window::IsDone(uint64_t asked) const {
  if (all_tell()) {
    const uint64_t fences = served_.fenced_by[static_cast<size_t>(rank())];
    return std::all_of(served_.fenced_by.begin(), served_.fenced_by.end(),
                       [&](uint64_t told) { return told >= fences; });
  }
  uint64_t done = 0;
  for (int r = 0; r < size(); ++r) done += messages_->inbox().done_for(r);
  return done >= asked;
}

// --- post, start, complete, wait ---

void Window::SayInPages(std::atomic<uint64_t> MemberPage::Told::*what,
                        const std::vector<int>& members, std::vector<uint64_t>* counts) {
  for (const int member : members) {
    (direct(member)->page().told_by(rank()).*what)
        .store(++(*counts)[static_cast<size_t>(member)], std::memory_order_release);
  }
  for (const int member : members) WakeIfAsleep(member);
}

// Who may sleep has said so, and has looked once more behind that (transport/edge/bell.h).
void Window::WakeIfAsleep(int member) {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler at least keeps the order
  if (direct(member)->page().asleep().armed()) messages_->SendWake(member);
}

template <typename Over>
Status Window::UntilSaid(const char* what, const Over& over) {
  return speaks_in_pages_ ? wait_->UntilSaid(&exposed_->page().asleep(), what, over)
                          : wait_->Until(/*is_told=*/true, what, over);
}

bool Window::HasPosted(int target) const {
  const auto t = static_cast<size_t>(target);
  const uint64_t posts =
      speaks_in_pages_ ? exposed_->page().told_by(target).posts.load(std::memory_order_acquire)
                       : served_.posted_by[t];
  return posts > posts_taken_[t];
}

bool Window::HasCompleted(int origin) const {
  const auto o = static_cast<size_t>(origin);
  const uint64_t completes =
      speaks_in_pages_ ? exposed_->page().told_by(origin).completes.load(std::memory_order_acquire)
                       : served_.completed_by[o];
  return completes > completes_taken_[o];
}

Status Window::Post(const std::vector<int>& origins) {
  GiveWhatIsWanted();
  for (const int origin : origins) BRIGADE_RETURN_IF_ERROR(CheckRank(origin));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckPost());
  FullFence();
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  if (speaks_in_pages_) {
    SayInPages(&MemberPage::Told::posts, origins, &posts_);
  } else {
    Note note;
    note.kind = NoteKind::kPost;
    for (const int origin : origins) BRIGADE_RETURN_IF_ERROR(messages_->SendNote(origin, note));
  }
  epochs_.Post(origins);
  return Status();
}

Status Window::Start(const std::vector<int>& targets) {
  GiveWhatIsWanted();
  for (const int target : targets) BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckStart());
  const WindowWait::Turn turn(&*wait_);
  for (const int target : targets) {
    BRIGADE_RETURN_IF_ERROR(UntilSaid("a target to post", [&] { return HasPosted(target); }));
    ++posts_taken_[static_cast<size_t>(target)];
  }
  FullFence();
  epochs_.Start(targets);
  return Status();
}

Status Window::Complete() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckComplete());
  FullFence();
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  epochs_.Complete();
  if (speaks_in_pages_) {  // all is done
    SayInPages(&MemberPage::Told::completes, epochs_.started(), &completes_);
    return Status();
  }
  const std::vector<int> targets = epochs_.started();
  for (const int target : targets) {
    BRIGADE_RETURN_IF_ERROR(AddNote(target, NoteKind::kComplete));
  }
  for (const int target : targets) BRIGADE_RETURN_IF_ERROR(AwaitLocally(target));
  return Status();
}

Status Window::EndExposure() {
  ProcessLock& combining = exposed_->page().combining();
  if (letters_.has_value()) BRIGADE_RETURN_IF_ERROR(AwaitProcessLock(&combining));
  for (const int origin : epochs_.posted()) {
    const uint64_t start = ++completes_taken_[static_cast<size_t>(origin)];
    if (letters_.has_value()) letters_->EndStart(start, origin, served_.memory);
    if (is_checked()) served_.checked->EndAll(origin);
  }
  if (letters_.has_value()) combining.Unlock();
  epochs_.Wait();
  FullFence();
  return Status();
}

Status Window::Wait() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckWait());
  const WindowWait::Turn turn(&*wait_);
  for (const int origin : epochs_.posted()) {
    BRIGADE_RETURN_IF_ERROR(
        UntilSaid("an origin to complete", [&] { return HasCompleted(origin); }));
  }
  return EndExposure();
}

Status Window::Test(bool* over) {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckWait());
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(wait_->Look());
  *over = std::all_of(epochs_.posted().begin(), epochs_.posted().end(),
                      [&](int origin) { return HasCompleted(origin); });
  if (!*over) return Status();
  return EndExposure();
}

// --- locks ---

Status Window::BeginLock(LockKind kind, int target) {
  const TargetMemory* const reached = direct(target);
  if (reached == nullptr) {
    return AddNote(target, NoteKind::kLock, 0, static_cast<uint8_t>(kind));
  }
  ProcessLock& queueing = reached->page().queueing();
  BRIGADE_RETURN_IF_ERROR(AwaitProcessLock(&queueing));
  bool granted = false;
  const Status status =
      reached->page().locks().Request(rank(), kind, /*by_message=*/false, &granted);
  queueing.Unlock();
  return status;
}

Status Window::AwaitLock(int target) {
  const TargetMemory* const reached = direct(target);
  if (reached != nullptr) {
    return wait_->Until(/*is_told=*/false, "the lock",
                        [&] { return reached->page().locks().Holds(rank()); });
  }
  const auto t = static_cast<size_t>(target);
  BRIGADE_RETURN_IF_ERROR(wait_->Until(/*is_told=*/true, "the lock",
                                       [&] { return served_.granted_by[t] > grants_taken_[t]; }));
  ++grants_taken_[t];
  return Status();
}

Status Window::EndLock(int target, Asked* asked) {
  const TargetMemory* const reached = direct(target);
  *asked = Asked();
  if (reached == nullptr) {
    const bool is_flushed =
        requests_flushed_[static_cast<size_t>(target)] == messages_->outbox().requests(target);
    const uint32_t unlock = NextToken();
    if (!is_flushed) *asked = AsksAs(target, unlock);
    return AddNote(target, NoteKind::kUnlock, unlock);
  }
  if (is_checked()) served_.checked->EndAll(target);
  std::vector<int> granted;
  ProcessLock& queueing = reached->page().queueing();
  BRIGADE_RETURN_IF_ERROR(AwaitProcessLock(&queueing));
  const Status status = reached->page().locks().Release(rank(), &granted);
  queueing.Unlock();
  BRIGADE_RETURN_IF_ERROR(status);
  Note note;
  note.kind = NoteKind::kGranted;
  note.token = static_cast<uint32_t>(target);
  for (const int origin : granted) BRIGADE_RETURN_IF_ERROR(messages_->SendNote(origin, note));
  return Status();
}

Status Window::Lock(LockKind kind, int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLock(target));
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  // Before it waits, so that a second lock by another thread is found.
  epochs_.LockOne(target, Epochs::Hold::kLock);
  Status status = BeginLock(kind, target);
  if (status.ok()) status = AwaitLock(target);
  if (!status.ok()) epochs_.UnlockOne(target);
  return status;
}

Status Window::LockUnchecked(int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLock(target));
  epochs_.LockOne(target, Epochs::Hold::kPromise);
  return Status();
}

Status Window::Unlock(int target) {
  BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckUnlock(target));
  if (epochs_.hold_of(target) == Epochs::Hold::kPromise) {
    const Status flushed = Flush(target);
    epochs_.UnlockOne(target);
    return flushed;
  }
  FullFence();
  const WindowWait::Turn turn(&*wait_);
  epochs_.UnlockOne(target);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  Asked asked;
  BRIGADE_RETURN_IF_ERROR(EndLock(target, &asked));
  return AwaitFlush(target, asked);
}

Status Window::LockAll() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLockAll());
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  epochs_.LockAll(Epochs::Hold::kLock);
  Status status;
  for (int r = 0; r < size() && status.ok(); ++r) status = BeginLock(LockKind::kShared, r);
  for (int r = 0; r < size() && status.ok(); ++r) status = AwaitLock(r);
  if (!status.ok()) epochs_.UnlockAll();
  return status;
}

Status Window::LockAllUnchecked() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckLockAll());
  epochs_.LockAll(Epochs::Hold::kPromise);
  return Status();
}

Status Window::UnlockAll() {
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckUnlockAll());
  if (epochs_.hold_of_all() == Epochs::Hold::kPromise) {
    const Status flushed = FlushAll();
    epochs_.UnlockAll();
    return flushed;
  }
  FullFence();
  const WindowWait::Turn turn(&*wait_);
  epochs_.UnlockAll();
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  std::vector<Asked> asked(static_cast<size_t>(size()));
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(EndLock(r, &asked[static_cast<size_t>(r)]));
  }
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(AwaitFlush(r, asked[static_cast<size_t>(r)]));
  }
  return Status();
}

Status Window::Flush(int target) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlush(target));
  FullFence();
  if (direct(target) != nullptr) {
    EndOwn(FlushedPart::kAll);
    // Who flushes again and again waits for what others write here, by messages perhaps.
    return is_direct_ ? Status() : Progress();
  }
  const WindowWait::Turn turn(&*wait_);
  Asked asked;
  BRIGADE_RETURN_IF_ERROR(AskFlush(target, FlushedPart::kAll, &asked));
  if (asked.token == 0) engine()->Move();
  return AwaitFlush(target, asked);
}

Status Window::FlushAll() {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlushAll());
  FullFence();
  if (epochs_.HasLock(rank())) EndOwn(FlushedPart::kAll);
  if (is_direct_) return Status();
  const WindowWait::Turn turn(&*wait_);
  std::vector<Asked> asked(static_cast<size_t>(size()));
  bool asks = false;
  for (int r = 0; r < size(); ++r) {
    if (!epochs_.HasLock(r)) continue;
    BRIGADE_RETURN_IF_ERROR(AskFlush(r, FlushedPart::kAll, &asked[static_cast<size_t>(r)]));
    asks = asks || asked[static_cast<size_t>(r)].token != 0;
  }
  if (!asks) engine()->Move();
  for (int r = 0; r < size(); ++r) {
    BRIGADE_RETURN_IF_ERROR(AwaitFlush(r, asked[static_cast<size_t>(r)]));
  }
  return Status();
}

Status Window::FlushLocal(int target) {
  BRIGADE_RETURN_IF_ERROR(CheckRank(target));
  BRIGADE_RETURN_IF_ERROR(epochs_.CheckFlush(target));
  if (direct(target) != nullptr) {
    EndOwn(FlushedPart::kReads);
    return Status();
  }
  const WindowWait::Turn turn(&*wait_);
  if (!is_checked()) return AwaitLocally(target);
  Asked asked;
  BRIGADE_RETURN_IF_ERROR(AskFlush(target, FlushedPart::kReads, &asked));
  return AwaitFlush(target, asked);
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

bool Window::TakeNotices(int source, uint64_t count) {
  uint64_t& taken = notices_taken_[static_cast<size_t>(source)];
  if (exposed_->page().notified(source).load(std::memory_order_acquire) - taken < count) {
    return false;
  }
  taken += count;
  return true;
}

Status Window::NotifyWait(int source, uint64_t count) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(CheckRank(source));
  if (TakeNotices(source, count)) return Status();
  const WindowWait::Turn turn(&*wait_);
  return wait_->Until(/*is_told=*/!some_are_direct_, "a notification",
                      [&] { return TakeNotices(source, count); });
}

Status Window::NotifyTest(int source, uint64_t count, bool* taken) {
  GiveWhatIsWanted();
  BRIGADE_RETURN_IF_ERROR(CheckRank(source));
  *taken = TakeNotices(source, count);
  if (*taken) return Status();
  BRIGADE_RETURN_IF_ERROR(Progress());
  *taken = TakeNotices(source, count);
  return Status();
}

Status Window::WaitFor(const std::atomic<bool>& over) {
  const WindowWait::Turn turn(&*wait_);
  return wait_->Until(/*is_told=*/true, "an operation",
                      [&] { return over.load(std::memory_order_acquire); });
}

Status Window::WaitForMemory(const char* what, const std::function<bool()>& over) {
  const WindowWait::Turn turn(&*wait_);
  return wait_->Until(/*is_told=*/false, what, over);
}

}  // namespace brigade
