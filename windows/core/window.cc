#include "windows/core/window.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "transport/edge/doorbell.h"
#include "transport/host/host.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_segment.h"
#include "windows/core/fences.h"
#include "windows/sync/answering.h"

namespace brigade {
namespace {

// Each member sends this to all when a window is made.
struct MemberRecord {
  MemberAttributes attributes;
  bool is_checked = false;
  StatusCode code = StatusCode::kOk;
  char text[200] = {};
};

Status CheckOptions(const WindowOptions& options) {
  if (options.unit < 1) {
    return {StatusCode::kInvalidArgument, "a displacement unit of " + std::to_string(options.unit) +
                                              " bytes: must be at least 1"};
  }
  if (options.kind == WindowMemory::kDynamic && options.unit != 1) {
    return {StatusCode::kInvalidArgument, "a dynamic window's displacements are addresses"};
  }
  if (options.bytes > size_t{1} << 62) {
    return {StatusCode::kInvalidArgument,
            "a window of " + std::to_string(options.bytes) + " bytes: must be at most 2^62"};
  }
  if (options.kind == WindowMemory::kPrivate && options.bytes > 0 && options.memory == nullptr) {
    return {StatusCode::kInvalidArgument, "a window of memory that is null"};
  }
  return Status();
}

// Null: others cannot map it.
std::shared_ptr<SharedSegment> SegmentOf(const WindowOptions& options) {
  if (options.kind != WindowMemory::kPrivate) return nullptr;
  return SharedAllocations::Here().Find(options.memory, options.bytes);
}

// Memory for mailboxes.
MailboxSize MailboxSizeOf(const WindowOptions& options, int members) {
  const bool has_one = options.has_short_blocks && options.goes_directly;
  return has_one ? ShortPutMailboxes::SizeOfArea(members) : MailboxSize();
}

}  // namespace

Window::Window(std::unique_ptr<Group> group, OtherThreads* others)
    : group_(std::move(group)), epochs_(size()), counters_(&served_, size()) {
  const auto members = static_cast<size_t>(size());
  for (std::vector<uint64_t>* counts :
       {&served_.posted_by, &served_.completed_by, &served_.fenced_by, &served_.granted_by,
        &grants_used_, &notifications_used_}) {
    counts->resize(members);
  }
  served_.flushed_by.resize(members);
  wait_.emplace(engine(), state(), others);
  direct_access_.emplace(&router_, &epochs_, &counters_, &*wait_);
  message_access_.emplace(engine(), state(), &router_, &*wait_, &served_);
}

Status Window::Create(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options,
                      std::unique_ptr<Window>* window) {
  std::unique_ptr<Group> group;
  BRIGADE_RETURN_IF_ERROR(Group::Create(space->engine(), bootstrap, 1, bootstrap->size(), &group));
  std::unique_ptr<Window> made(new Window(std::move(group), options.others));
  std::vector<MemberAttributes> members;
  BRIGADE_RETURN_IF_ERROR(made->Expose(space, bootstrap, options, &members));
  BRIGADE_RETURN_IF_ERROR(made->OpenTargets(bootstrap, options, std::move(members)));
  // All members have exposed their memory, as behind a fence.
  if (options.kind == WindowMemory::kProcess) {
    BRIGADE_RETURN_IF_ERROR(made->epochs_.Fence(/*opens=*/true));
  }
  *window = std::move(made);
  return Status();
}

Status Window::Expose(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options,
                      std::vector<MemberAttributes>* members) {
  Status mine = CheckOptions(options);
  if (options.in_one_piece) {
    const Status part = ExposePart(bootstrap, options);
    if (mine.ok()) mine = part;
  } else if (mine.ok()) {
    mine = ExposedMemory::Create(options.kind, options.memory, options.bytes, options.unit, size(),
                                 &exposed_, SegmentOf(options), MailboxSizeOf(options, size()));
  }
  MemberRecord record;
  if (mine.ok()) {
    record.attributes = exposed_->attributes();
    served_.rank = rank();
    served_.memory = exposed_->base();
    served_.bytes = static_cast<int64_t>(record.attributes.bytes);
    served_.page = exposed_->page();
    if (is_dynamic()) served_.attached = exposed_->attached();
    // It must be there before any member can send a control message.
    const WindowWait::ProgressGuard guard(&*wait_);
    messages_ = std::make_unique<WindowMessages>(space, state(), &served_);
    message_access_->Use(messages_.get());
  }
  record.is_checked = options.is_checked;
  record.code = mine.code();
  mine.message().copy(record.text, sizeof(record.text) - 1);
  std::vector<MemberRecord> all(static_cast<size_t>(size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&record, sizeof(record), all.data()));
  for (size_t r = 0; r < all.size(); ++r) {
    all[r].text[sizeof(record.text) - 1] = '\0';
    if (all[r].code != StatusCode::kOk) {
      return {all[r].code, "a window on rank " + std::to_string(r) + ": " + all[r].text};
    }
    members->push_back(all[r].attributes);
  }
  // No member sends a request before all targets are open.
  if (std::any_of(all.begin(), all.end(), [](const MemberRecord& one) { return one.is_checked; })) {
    const WindowWait::ProgressGuard guard(&*wait_);
    served_.checked.emplace(rank(), is_dynamic() ? static_cast<int64_t>(kProcessAddress) : 0);
  }
  return Status();
}

Status Window::ExposePart(Bootstrap* bootstrap, const WindowOptions& options) {
  std::vector<size_t> bytes(static_cast<size_t>(size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&options.bytes, sizeof(size_t), bytes.data()));
  MemberAttributes first;
  Status status;
  const auto create = [&] {
    status = ExposedMemory::CreatePart(rank(), bytes, options.unit, &first, &exposed_);
  };
  if (rank() == 0) create();
  std::vector<MemberAttributes> all(static_cast<size_t>(size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&first, sizeof(first), all.data()));
  first = all[0];
  if (rank() != 0) create();
  return status;
}

Status Window::OpenTargets(Bootstrap* bootstrap, WindowOptions options,
                           std::vector<MemberAttributes> members) {
  const bool is_simulated = engine()->endpoint()->simulated_processor() != nullptr;
  options.goes_directly = options.goes_directly && !is_simulated;
  BRIGADE_RETURN_IF_ERROR(router_.Open(bootstrap, std::move(members), options,
                                       served_.checked.has_value(),
                                       engine()->endpoint()->AllowsProgressThread()));
  is_freed_ = false;  // other members have the window, even if memory is used up here
  if (is_direct() && !is_simulated && size() <= MemberPage::kMaxFlagPeers) {
    std::vector<MemberPage> pages;
    for (int r = 0; r < size(); ++r) pages.push_back(router_.direct(r)->page());
    counters_.UseFlags(std::move(pages));
    (void)Doorbell::Prepare();  // a rank that is not woken in time wakes by itself
  }
  if (router_.has_mailboxes()) direct_access_->OpenMailboxes();
  // Elsewhere no rank gets requests while it makes no call.
  if (!is_direct()) Listen();
  may_leave_early_ =
      !router_.some_are_direct() && !served_.checked.has_value() && !router_.has_dynamic();
  return Status();
}

void Window::GiveWhatIsWanted() {
  if (engine()->IsForked()) return;  // other ranks would count on what the parent does not have
  if (router_.is_delegate() && !listens_ && exposed_->page().answering().is_wanted()) Listen();
  direct_access_->MakeWantedMailboxes(exposed_.get());
}

void Window::Listen() {
  const WindowWait::ProgressGuard guard(&*wait_);
  messages_->Listen(this);
  listens_ = true;
}

// An origin delegates only to a target that answers, and then stays in its call, which makes
// progress and admits no other thread, until it has its answer. So a target that stops answering
// makes progress here until the calls of all origins that have begun have ended; no origin begins
// after that. The target's next call would be too late for them: it may come only after their calls
// have ended. These origins wait only for targets that answer or are in this function; a lost one
// is noticed as in all waits.
//
// But these calls need memory on both ranks. All of it may be lent to requests of other ranks,
// which wait for this rank without making progress. So if nothing has moved for a while, the rest
// is left to this rank's next call.
void Window::OnProgressThread(bool answers) {
  message_access_->SetProgressThread(answers);
  Answering& mine = exposed_->page().answering();
  if (answers) {
    mine.Begin();
    return;
  }
  mine.End();
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(2);
  Clock::time_point moved = Clock::now();
  const auto is_stuck = [&] { return Clock::now() - moved > kPatience; };
  // If this wait fails, the window is broken, and its next call returns the failure.
  (void)wait_->UntilAlone(/*by_message=*/false, "requests of other ranks", [&] {
    if (engine()->Move()) moved = Clock::now();  // also sends requests that wait for a fence
    return !mine.is_asked() || is_stuck();
  });
  if (!mine.is_asked() || !state()->failure.ok()) return;
  engine()->options().report("a window on group rank " + std::to_string(rank()) +
                             ": requests of other ranks wait for this rank's next call");
}

Window::~Window() {
  if (is_abandoned_) {
    group_->Abandon();  // others may still send requests to this rank
  } else if (!is_freed_) {
    group_->Abort("a window was destroyed and not freed");
  }
  const WindowWait::ProgressGuard guard(&*wait_);
  messages_.reset();
  if (kept_ != nullptr) *kept_ = {std::move(exposed_), router_.TakeTargets()};
}

Window::Memory Window::End(std::unique_ptr<Window> window) {
  Memory memory;
  window->kept_ = &memory;
  window.reset();
  return memory;
}

Status Window::Free() {
  if (is_freed_) return Status();
  BRIGADE_RETURN_IF_ERROR(failure());  // an epoch of a broken window cannot be ended
  if (epochs_.has_locks()) {
    return {StatusCode::kInvalidArgument, "a window is freed while this rank holds its locks"};
  }
  // By messages: after them no rank sends to a closed group.
  BRIGADE_RETURN_IF_ERROR(EndFence({/*nothing_precedes=*/false, /*nothing_succeeds=*/true},
                                   /*meets_by_flags=*/false));
  is_freed_ = true;
  return Status();
}

Status Window::Leave() {
  if (epochs_.has_locks()) {
    return {StatusCode::kInvalidArgument, "a window is left while this rank holds its locks"};
  }
  is_freed_ = is_abandoned_ = true;
  const WindowWait::ProgressGuard guard(&*wait_);
  return messages_->Leave();
}

Status Window::EndLocks() {
  if (epochs_.hold_of_all() != Epochs::Hold::kNone) BRIGADE_RETURN_IF_ERROR(UnlockAll());
  for (int r = 0; r < size() && epochs_.has_locks(); ++r) {
    if (epochs_.hold_of(r) != Epochs::Hold::kNone) BRIGADE_RETURN_IF_ERROR(Unlock(r));
  }
  return Status();
}

bool Window::HasEnded() {
  const WindowWait::ProgressGuard guard(&*wait_);
  engine()->Move();
  if (messages_->all_left()) is_abandoned_ = false;  // no rank sends this one requests
  return messages_->all_left() || !state()->failure.ok();
}

template <typename Change>
Status Window::ChangeAttached(const Change& change) {
  if (!is_dynamic()) {
    return {StatusCode::kInvalidArgument, "a window that no memory is attached to"};
  }
  const WindowWait::ProgressGuard guard(&*wait_);
  ProcessLock& changing = exposed_->attached().changing();
  BRIGADE_RETURN_IF_ERROR(wait_->UntilLocked(&changing));
  const Status status = change(exposed_->attached());
  changing.Unlock();
  return status;
}

Status Window::Attach(const std::byte* memory, size_t bytes) {
  return ChangeAttached([&](AttachedRanges attached) -> Status {
    BRIGADE_RETURN_IF_ERROR(attached.Attach(memory, bytes));
    if (bytes == 0) attached_without_bytes_.push_back(memory);
    return Status();
  });
}

Status Window::Detach(const std::byte* memory) {
  return ChangeAttached([&](AttachedRanges attached) -> Status {
    const Status status = attached.Detach(memory);
    std::vector<const std::byte*>& others = attached_without_bytes_;
    const auto other = std::find(others.begin(), others.end(), memory);
    if (status.ok() || other == others.end()) return status;
    others.erase(other);
    return Status();
  });
}

std::byte* Window::PointerTo(int rank) const {
  const TargetMemory* const opened = router_.opened(rank);
  return opened == nullptr ? nullptr : opened->mapped();
}

Status Window::AllGather(const void* mine, size_t bytes, void* all, const Look& look) {
  FullFence();
  std::vector<Matrix> blocks(static_cast<size_t>(size()));
  for (size_t r = 0; r < blocks.size(); ++r) {
    blocks[r] = {static_cast<std::byte*>(all) + r * bytes, StridedLayout::Contiguous(bytes)};
  }
  std::memcpy(blocks[static_cast<size_t>(rank())].data, mine, bytes);
  PatternCall spread;
  spread.pattern = Pattern::kMultiBroadcast;
  spread.topology.shape = Shape::kFree;
  spread.blocks = blocks.data();
  BRIGADE_RETURN_IF_ERROR(wait_->Run(group_.get(), spread, look));
  FullFence();
  return Status();
}

Status Window::Progress() {
  const WindowWait::ProgressGuard guard(&*wait_);
  return wait_->Look();
}

Status Window::LookNowAndThen() {
  constexpr uint32_t kCallsPerLook = 64;
  return ++calls_without_look_ % kCallsPerLook == 0 ? Progress() : Status();
}

}  // namespace brigade
