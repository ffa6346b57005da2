#include "patterns/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/activity.h"
#include "patterns/engine/group_control.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

// For receivers of a broken group to give back what was sent to them.
constexpr std::chrono::seconds kGivenUpTime(1);

void ReportOnStderr(const std::string& line) {
  std::fprintf(stderr, "brigade: %s\n", line.c_str());
}

// For messages: a rank that has not taken what was sent to it; -1: there is none.
std::string Awaited(int receiver) {
  if (receiver < 0) return "";
  return ", waiting for rank " + std::to_string(receiver) + " to receive what was sent to it";
}

EngineOptions WithDefaults(EngineOptions options) {
  if (!options.report) options.report = ReportOnStderr;
  return options;
}

}  // namespace

Status Engine::Create(Endpoint* endpoint, const EngineOptions& options,
                      std::unique_ptr<Engine>* engine) {
  if (options.chunk_bytes < kLeastChunkBytes || options.chunk_bytes % 64 != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "chunks of " + std::to_string(options.chunk_bytes) +
                      " bytes: a chunk must be a multiple of 64 bytes, and at least " +
                      std::to_string(kLeastChunkBytes));
  }
  if (options.chunk_bytes > endpoint->capabilities().max_segment_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  "chunks of " + std::to_string(options.chunk_bytes) + " bytes: transport " +
                      endpoint->capabilities().name + " moves at most " +
                      std::to_string(endpoint->capabilities().max_segment_bytes) + " at once");
  }
  const size_t preferred = std::min(endpoint->capabilities().tuning.preferred_segment_bytes,
                                    endpoint->capabilities().max_segment_bytes);
  const SegmentSettings settings =
      SegmentSettingsFor(options.chunk_bytes, options.staging_bytes, preferred);
  (void)NoMemoryLeft();  // makes it while there is memory
  std::unique_ptr<Engine> created(new Engine(endpoint, WithDefaults(options)));
  BRIGADE_RETURN_IF_ERROR(created->buffers_.Allocate(settings));
  *engine = std::move(created);
  return Status();
}

Engine::Engine(Endpoint* endpoint, const EngineOptions& options)
    : endpoint_(endpoint),
      options_(options),
      processor_(endpoint->simulated_processor()),
      buffers_(endpoint, options_),
      sends_(endpoint, &buffers_, &failing_) {}

Engine::~Engine() {
  if (IsForked()) {
    (void)progress_thread_.release();
    buffers_.LeaveToTransport();
    return;
  }
  if (progress_thread_owns_) TakeRoleBack();
  progress_thread_.reset();
  // A send that failed has been reported, or its group is broken.
  AwaitSends();
  CloseIdleGroups();
  if (sends_.in_flight() == 0) return;
  buffers_.LeaveToTransport();
  sends_.LeaveToTransport();
}

// --- a forked child ---

Status Engine::ForkedFailure() {
  return Status(StatusCode::kUnavailable,
                "this process was forked; the engine and its groups are its parent's");
}

void Engine::LeaveToParent() {
  for (GroupState* group : groups_) {
    if (!group->failure.ok()) continue;
    group->failure = ForkedFailure();
    group->cause.rank = -1;  // no rank has broken it
  }
  failing_.clear();
}

// --- the progress owner's role ---

void Engine::TakeRoleBack() {
  progress_thread_owns_ = false;
  progress_thread_->Take();
}

// A forked child gives its role to nobody: of a progress thread it has a copy at most, whose
// condition variable another thread may have been changing.
void Engine::GiveRole() {
  if (keeps_role_ || IsForked()) return;
  const bool now = std::exchange(in_a_hurry_, false);
  if (!WorkIsLeft() || !endpoint_->AllowsProgressThread()) return;
  const Status made = progress_thread_ == nullptr ? MakeProgressThread() : Status();
  if (!made.ok()) {
    return options_.report(made.message() + "; operations progress only during calls");
  }
  progress_thread_owns_ = true;
  if (helps_operations_ && OwnWorkIsLeft()) progress_thread_->LookSoon();
  progress_thread_->Give(now);
}

Status Engine::MakeProgressThread() {
  const Status made = ProgressThread::Create([this] { return StepOfProgressThread(); },
                                             [this](int us) { endpoint_->polling()->Await(us); },
                                             &progress_thread_);
  if (!made.ok()) allows_progress_thread_ = false;  // until there is another group or window
  NotifyOfProgressThread();
  return made;
}

void Engine::Listen(Listener* listener) {
  listeners_.push_back(listener);
  if (progress_thread_answers_) listener->OnProgressThread(true);
  RecheckProgressThread();
}

void Engine::Ignore(Listener* listener) {
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
  RecheckProgressThread();
}

void Engine::RecheckProgressThread() {
  allows_progress_thread_ =
      (helps_operations_ || !listeners_.empty()) && endpoint_->AllowsProgressThread();
  NotifyOfProgressThread();
}

// A forked child shares with its parent what listeners publish.
void Engine::NotifyOfProgressThread() {
  const bool answers = progress_thread_ != nullptr && allows_progress_thread_;
  if (answers == progress_thread_answers_ || IsForked()) return;
  progress_thread_answers_ = answers;
  for (Listener* listener : listeners_) listener->OnProgressThread(progress_thread_answers_);
}

Status Engine::OpenEvents(int* fd) {
  const ProgressGuard guard(this);
  if (IsForked()) return ForkedFailure();
  if (!endpoint_->AllowsProgressThread()) {
    return Status(StatusCode::kUnavailable,
                  std::string("the transport ") + endpoint_->capabilities().name +
                      " allows no progress thread, so no descriptor signals that an operation is "
                      "complete; over mpi, call brigade_progress() from a timer; over others, make "
                      "a group of several ranks first");
  }
  BRIGADE_RETURN_IF_ERROR(events_.Open());
  helps_operations_ = true;
  RecheckProgressThread();
  if (progress_thread_ == nullptr) BRIGADE_RETURN_IF_ERROR(MakeProgressThread());
  *fd = events_.fd();
  return Status();
}

void Engine::LeaveActive() {
  if (IsForked()) return;
  endpoint_->polling()->Flush();
  AnnounceCompletions();
}

void Engine::AnnounceCompletions() {
  if (!events_.is_open()) return;
  bool any = false;
  for (Activity* activity : active_) any |= activity->done() && activity->Announce();
  if (any) events_.Signal();
}

bool Engine::OwnWorkIsLeft() const {
  return sends_.in_flight() > 0 ||
         std::any_of(active_.begin(), active_.end(),
                     [](const Activity* a) { return !a->done() && !a->leaves_by_itself(); });
}

bool Engine::WorkIsLeft() {
  announces_failure_ = announces_failure_ && endpoint_->HoldsControl();
  return !listeners_.empty() || announces_failure_ || left_all_groups_ || sends_.in_flight() > 0 ||
         std::any_of(active_.begin(), active_.end(), [](const Activity* a) { return !a->done(); });
}

// It says nothing when nothing moves: nobody waits.
ProgressThread::Step Engine::StepOfProgressThread() {
  const int stalled_before = buffers_.stalled();
  bool moved = false;
  const Status status = CatchOutOfMemory([&] { return moved = MoveOnce(), Status(); });
  if (!status.ok()) {  // no call gets it, and any group may have lost a message
    for (GroupState* group : groups_) BreakGroup(group, status);
  }
  AnnounceCompletions();
  if (!WorkIsLeft()) return ProgressThread::Step::kNothingLeft;
  // An operation counts its looks for staging memory: the thread must not sleep between two looks.
  const bool looked = buffers_.stalled() != stalled_before && !buffers_.OutOfPatience();
  return moved || looked ? ProgressThread::Step::kMoved : ProgressThread::Step::kNothingMoved;
}

// --- activities ---

bool Engine::AdvanceActivities() {
  bool any = false;
  firsts_.clear();
  for (size_t i = 0; i < active_.size(); ++i) {
    Activity* activity = active_[i];
    if (activity->done()) continue;
    if (activity->is_late()) {
      activity->TimeOut();
      BreakGroup(activity->group(), activity->outcome(), activity->cause());
      any = true;
      continue;
    }
    const bool behind_another = std::any_of(
        firsts_.begin(), firsts_.end(), [&](const Activity* a) { return a->HoldsUp(*activity); });
    if (behind_another) continue;
    firsts_.push_back(activity);
    const Status status = CatchOutOfMemory([&] { return any |= activity->Advance(), Status(); });
    // Without memory, the activity is in the middle of a step.
    if (!status.ok()) BreakGroup(activity->group(), status);
    if (activity->done() && !activity->outcome().ok()) {
      BreakGroup(activity->group(), activity->outcome(), activity->cause());
    }
  }
  const auto leaves = [](const Activity* a) { return a->done() && a->leaves_by_itself(); };
  active_.erase(std::remove_if(active_.begin(), active_.end(), leaves), active_.end());
  return any;
}

bool Engine::Progress() {
  const ProgressGuard guard(this);
  if (events_.is_open() && !IsForked()) events_.Clear();
  return MoveOnce();
}

bool Engine::MoveOnce() {
  const bool moved = Move();
  if (std::exchange(advances_before_, advances_) != advances_ || active_.empty()) {
    once_timer_.Reset();
  } else if (processor_ == nullptr && !IsForked()) {
    // Over tcp, finds lost ranks; over mpi, moves the program's own messages.
    if (++idle_tests_ % rules::kPollsPerClock == 0) endpoint_->polling()->Nudge();
    const Clock::time_point now = Clock::now();
    once_timer_.Start(now);
    if (once_timer_.IsDue(now)) CheckMatches();
  }
  return moved;
}

bool Engine::Move() {
  if (IsForked()) return false;
  bool any = endpoint_->Progress();
  if (sends_.has_deferred()) any |= sends_.PostDeferred();
  if (AdvanceActivities()) {
    ++advances_;
    any = true;
  }
  if (!failing_.empty()) BreakFailing();
  if (!leaving_groups_.empty()) CloseIdleGroups();
  return any;
}

std::string Engine::Describe(const CatalogueEntry& entry, uint64_t sequence,
                             const GroupState& group, ChannelKind kind, const std::string& detail,
                             int awaited_peer) const {
  const std::string text = std::string(entry.name) + " number " + std::to_string(sequence) +
                           " of group rank " + std::to_string(group.rank) + detail;
  if (awaited_peer >= 0) return text + ", waiting for rank " + std::to_string(awaited_peer);
  return text + Awaited(sends_.SlowReceiver(&group, kind));
}

void Engine::RunToEnd(Activity* activity) {
  if (IsForked()) return;
  GroupState* const group = activity->group();
  const Status status = CatchOutOfMemory([&] {
    awaited_ = activity;
    AdvanceActivities();
    WaitUntil([&] { return activity->done(); }, [&] { return activity->Describe(); },
              [&] { return activity->AwaitedPeer(); },
              [&] {
                const auto first = std::find_if(active_.begin(), active_.end(),
                                                [&](Activity* a) { return a->HoldsUp(*activity); });
                if (first != active_.end()) CheckMatchOf(*first, /*is_awaited=*/true);
              });
    return Status();
  });
  awaited_ = nullptr;
  // The posts of the activity must end before the activity does.
  if (!status.ok()) BreakGroup(group, status);
  group->long_wait.reset();
}

bool Engine::IsAwaited(const Activity& activity) const {
  return awaited_ != nullptr && activity.HoldsUp(*awaited_);
}

void Engine::CheckMatches() {
  for (size_t i = 0; i < active_.size(); ++i) {
    Activity* const activity = active_[i];
    const auto before = active_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool is_first =
        !activity->done() && std::none_of(active_.begin(), before,
                                          [&](const Activity* a) { return a->HoldsUp(*activity); });
    if (is_first) CheckMatchOf(activity, /*is_awaited=*/false);
  }
}

void Engine::CheckMatchOf(Activity* first, bool is_awaited) {
  first->CheckMatch(is_awaited);
  if (first->done()) BreakGroup(first->group(), first->outcome(), first->cause());
}

void Engine::ActivateOnce(Activity* activity) {
  if (std::find(active_.begin(), active_.end(), activity) == active_.end()) Activate(activity);
}

void Engine::Deactivate(Activity* activity) {
  active_.erase(std::remove(active_.begin(), active_.end(), activity), active_.end());
}

// --- groups ---

void Engine::ListenTo(GroupState* group) {
  groups_.push_back(group);
  leaving_groups_.reserve(leaving_groups_.size() + groups_.size());  // for RemoveGroup
  left_all_groups_ = false;
  helps_operations_ |= !endpoint_->CapabilitiesOf(group->id).progresses_alone;
  group->control.emplace(group, &failing_, [this, group](int from, ConstByteSpan message) {
    OnEnquiry(group, from, message);
  });
  endpoint_->SetControlHandler(group->id, &*group->control);
}

void Engine::RemoveGroup(std::unique_ptr<GroupState> group) {
  if (IsForked()) {
    // The group is the parent's: the child sends nothing to its members, and takes back no sends.
    leaving_groups_.push_back(std::move(group));
    return;
  }
  const ProgressGuard guard(this);
  // An enquiry that has come is answered by nobody afterwards.
  if (processor_ == nullptr && group->failure.ok()) {
    (void)CatchOutOfMemory([&] {
      endpoint_->polling()->Nudge();
      Move();
      if (group->failure.code() == StatusCode::kMismatch) {
        options_.report("this rank ends a group in which another rank waits: " +
                        group->failure.message());
      }
      return Status();
    });
  }
  groups_.erase(std::remove(groups_.begin(), groups_.end(), group.get()), groups_.end());
  left_all_groups_ = groups_.empty();
  leaving_groups_.push_back(std::move(group));
  // Without memory, a later call closes them.
  (void)CatchOutOfMemory([&] { return CloseIdleGroups(), Status(); });
}

void Engine::CloseIdleGroups() {
  const auto over = [&](const std::unique_ptr<GroupState>& group) {
    // At once, so that nobody waits for receives that will never be posted: two ranks that did for
    // each other would wait for ever.
    if (!sends_.HasDeferredOf(*group) && !std::exchange(group->closed, true))
      endpoint_->CloseGroup(group->id);
    if (group->sends_in_flight > 0) return false;
    failing_.erase(std::remove(failing_.begin(), failing_.end(), group.get()), failing_.end());
    return true;
  };
  leaving_groups_.erase(std::remove_if(leaving_groups_.begin(), leaving_groups_.end(), over),
                        leaving_groups_.end());
  RecheckProgressThread();
}

std::string Engine::DescribeSends() const {
  return std::to_string(sends_.in_flight()) + " returned sends" + Awaited(sends_.SlowReceiver());
}

void Engine::AwaitUnbrokenSends(bool back) {
  if (IsForked()) return;
  WaitUntil(
      [&] {
        const size_t left = sends_.in_flight() - sends_.given_up();
        return left == 0 || (!back && sends_.given_up() == 0 && left == endpoint_->SendsTaken());
      },
      [&] { return DescribeSends(); });
}

void Engine::AwaitSends() {
  AwaitUnbrokenSends(/*back=*/true);
  if (sends_.in_flight() == 0 || IsForked()) return;
  const auto end = std::chrono::steady_clock::now() + kGivenUpTime;
  WaitUntil([&] { return sends_.in_flight() == 0 || std::chrono::steady_clock::now() > end; },
            [&] { return DescribeSends(); });
}

Status Engine::AwaitReceivers() {
  const ProgressGuard guard(this);
  AwaitUnbrokenSends(/*back=*/false);
  return sends_.failure();
}

Status Engine::Drain() {
  const ProgressGuard guard(this);
  AwaitSends();
  return sends_.failure();
}

void Engine::Trim() {
  const ProgressGuard guard(this);
  buffers_.overflow()->Trim();
}

StagingStatistics Engine::staging() {
  const ProgressGuard guard(this);
  return buffers_.pool()->statistics();
}

OverflowStatistics Engine::overflow() {
  const ProgressGuard guard(this);
  return buffers_.overflow()->statistics();
}

}  // namespace brigade
