// Engine: what all operations of a process share. It owns the staging pool, the overflow memory,
// the order of operations, and every send that has returned to its caller and is still on its way.
//
// One per process and transport. Not thread-safe: an engine has one progress owner at a time. The
// owner is the thread inside a public call of the engine, its groups or their operations; between
// calls it is the progress thread (progress_thread.h), made when there is first something for it to
// do.

#ifndef BRIGADE_PATTERNS_ENGINE_ENGINE_H_
#define BRIGADE_PATTERNS_ENGINE_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "membuf/overflow_arena.h"
#include "membuf/staging_pool.h"
#include "membuf/status.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/event_descriptor.h"
#include "patterns/engine/fork_watch.h"
#include "patterns/engine/match_timer.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/progress_thread.h"
#include "patterns/engine/send_queue.h"
#include "patterns/engine/staging_buffers.h"
#include "patterns/rules.h"
#include "patterns/trace/trace.h"
#include "transport/endpoint.h"
#include "transport/mpi_polls.h"
#include "transport/rules.h"

namespace brigade {

class Activity;
struct Abort;
class SimulatedProcessor;
struct CatalogueEntry;
struct GroupState;
struct MachineDescription;
struct OperationStatistics;

// More than 25 public methods: the lower half is for patterns/engine and its neighbours, which run
// calls of several classes under one ProgressGuard.
class Engine {
 public:
  using Clock = std::chrono::steady_clock;

  // An object, such as a window, to which other ranks may send requests at any time.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Whether, from here on, a progress thread answers while the owner is elsewhere; at first none
    // does. Called on the progress owner. The progress thread stays away until this returns,
    // however long it is counted on.
    virtual void OnProgressThread(bool answers) = 0;
  };

  // kInvalidArgument, naming value and minimum, if staging memory is below what the schedules
  // need; kOutOfMemory if the memory cannot be had. `endpoint` must outlive the engine.
  static Status Create(Endpoint* endpoint, const EngineOptions& options,
                       std::unique_ptr<Engine>* engine);
  // Waits for returned sends, as Drain; in a forked child, which has a copy of everything and owns
  // none of it, does nothing. REQUIRES: all groups are gone.
  ~Engine();

  // Moves everything that can move without waiting. True if anything did.
  bool Progress();
  // Opens a descriptor that is readable from the completion of a started operation until the next
  // Progress, which the progress thread sees to. kUnavailable: there can be no progress thread.
  // REQUIRES: the groups of the operations are made.
  Status OpenEvents(int* fd);
  // Waits until every returned send has left. kPeerLost if one never can. Where ranks share memory
  // that may take calls of the ranks that relay a broadcast, and not only of those that receive it.
  Status Drain();
  // Waits only until its receiver has every returned send. Memory that is shared is not all back
  // then: relays of a broadcast, wherever they are, may need it for others. kPeerLost, as Drain.
  Status AwaitReceivers();
  // Gives unused overflow memory back to the system.
  void Trim();

  Endpoint* endpoint() const { return endpoint_; }
  const EngineOptions& options() const { return options_; }
  StagingStatistics staging();
  OverflowStatistics overflow();

  // --- within patterns/engine: for the progress owner, in a ProgressGuard ---

  // A caller's stay inside a public call, during which it is the progress owner and the progress
  // thread is not. The end of it may give the role away, so guards nest only under RoleKept: calls
  // made within use what is private.
  class ProgressGuard {
   public:
    explicit ProgressGuard(Engine* engine) : engine_(engine) {
      if (engine->progress_thread_owns_) engine->TakeRoleBack();
      if (engine->IsForked()) engine->LeaveToParent();
    }
    // Without memory, the end of a later call does what is left.
    ~ProgressGuard() {
      (void)CatchOutOfMemory([this] { return Leave(), Status(); });
    }
    ProgressGuard(const ProgressGuard&) = delete;
    ProgressGuard& operator=(const ProgressGuard&) = delete;

   private:
    void Leave() {
      // A caller that gets a failure may free its memory: BreakFailing ends the work on it.
      if (!engine_->failing_.empty()) engine_->BreakFailing();
      if (!engine_->active_.empty()) engine_->LeaveActive();
      if (!engine_->allows_progress_thread_) return;
      if (!engine_->listeners_.empty() || engine_->sends_.in_flight() > 0 ||
          !engine_->active_.empty() || engine_->announces_failure_ || engine_->left_all_groups_) {
        engine_->GiveRole();
      }
    }

    Engine* const engine_;
  };

  // Keeps the role while it exists, so that guards may nest: a group that is made of another opens
  // under one guard, under which its members call on the other.
  class RoleKept {
   public:
    explicit RoleKept(Engine* engine)
        : engine_(engine), before_(std::exchange(engine->keeps_role_, true)) {}
    ~RoleKept() {
      BRIGADE_CHECK(!engine_->progress_thread_owns_);
      engine_->keeps_role_ = before_;
    }
    RoleKept(const RoleKept&) = delete;
    RoleKept& operator=(const RoleKept&) = delete;

   private:
    Engine* const engine_;
    const bool before_;
  };

  StagingBuffers* buffers() { return &buffers_; }
  SendQueue* sends() { return &sends_; }
  // Null for processors that exist.
  SimulatedProcessor* processor() const { return processor_; }
  // Whether this is a forked child, which has a copy of everything and owns none of it: it moves
  // nothing, and its calls fail.
  bool IsForked() const { return fork_watch_.IsForked(); }
  static Status ForkedFailure();
  // Nothing is under way but sends that the transport has taken.
  bool IsIdle() const { return active_.empty() && !sends_.has_deferred(); }

  // Lets an activity progress until it is deactivated, in program order with the others.
  void Activate(Activity* activity) { active_.push_back(activity); }
  // The same for one that leaves by itself, unless it is in the order.
  void ActivateOnce(Activity* activity);
  // Progresses until it is done; in a forked child does nothing.
  void RunToEnd(Activity* activity);
  // Whether a call waits for the activity, or for one that it holds up: the core of the staging
  // memory is the activity's then.
  bool IsAwaited(const Activity& activity) const;
  // In a long wait for one of several activities, and in tests of them: compares the calls of the
  // first activity of each order with those of other ranks.
  void CheckMatches();
  // Takes one that is done out of the order, or one that may have left.
  void Deactivate(Activity* activity);
  // From here on, until Ignore, the progress thread answers requests of others while the owner is
  // elsewhere.
  void Listen(Listener* listener);
  void Ignore(Listener* listener);
  // At the end of this call the progress thread is to begin at once.
  void HurryProgressThread() { in_a_hurry_ = true; }
  // The same behind the start of an operation, if those are helped.
  void HurryOperations() { in_a_hurry_ |= helps_operations_; }
  // A peer was answered, and may be waiting for the answer to its next question soon.
  void ExpectMore() {
    if (progress_thread_ != nullptr) progress_thread_->LookSoon();
  }
  // Moves everything that can move without waiting. True if anything did.
  bool Move();
  // The same, for the progress thread, and for a call that a program repeats until something is
  // over: looks for mismatches and lost ranks as a long wait does.
  bool MoveOnce();
  // Progresses until `over()`, pausing as the transport likes; every report interval it says that
  // `what()` still waits. `over()` may be called again after it has returned true, and returns true
  // again. `peer()`, for traces: the rank of the group it waits for, or -1. `check()` is called
  // where the wait is long, ever more rarely (match_check.h).
  template <typename Over, typename What, typename Peer, typename Check>
  void WaitUntil(const Over& over, const What& what, const Peer& peer, const Check& check);
  template <typename Over, typename What>
  void WaitUntil(const Over& over, const What& what) {
    WaitUntil(
        over, what, [] { return -1; }, [] {});
  }

  // Whether the time that this call waits is counted, from now on: that takes a look at the clock
  // per poll. And how long it has waited.
  void CountWaits(bool counts) {
    counts_waits_ = counts;
    waited_ = {};
  }
  std::chrono::nanoseconds waited() const { return waited_; }
  // A wait elsewhere than in WaitUntil, from construction to destruction.
  class Wait {
   public:
    explicit Wait(Engine* engine) : engine_(engine) {
      if (engine_->counts_waits_) since_ = Clock::now();
    }
    ~Wait() {
      if (engine_->counts_waits_) engine_->waited_ += Clock::now() - since_;
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Engine* const engine_;
    Clock::time_point since_;
  };

  // A failure of a group, and what others get of it: closes the group, ends all its activities, and
  // sends the failure to the other members, unless it is broken already. In a forked child only
  // keeps the failure. Not from callbacks.
  void BreakGroup(GroupState* group, const Status& status, const Abort& cause);
  // The same for a failure of this rank that belongs to no call on the group.
  void BreakGroup(GroupState* group, const Status& status);
  // Closes the group and ends all its activities on this rank, and sends no message. In a forked
  // child does nothing. Not from callbacks.
  void AbandonGroup(GroupState* group);
  // Receives control messages about the group, which has just been opened.
  void ListenTo(GroupState* group);
  // Closes the group, and keeps its state until its sends have ended; in a forked child closes
  // nothing. Takes a guard itself.
  void RemoveGroup(std::unique_ptr<GroupState> group);
  // The answer changes with the groups that are open, and with the listeners, which are notified.
  void RecheckProgressThread();

  // Returns a text for errors and reports: what an operation is doing. `detail` is how far it is,
  // `awaited_peer` the group rank that it waits for; -1: for none.
  std::string Describe(const CatalogueEntry& entry, uint64_t sequence, const GroupState& group,
                       ChannelKind kind, const std::string& detail, int awaited_peer) const;
  // Executors that are done and kept for the next operations, Executor::kMostIdle of them at most.
  std::vector<std::unique_ptr<Activity>>* idle_executors() { return &idle_executors_; }
  // Measured machines, by their hosts.
  std::map<std::string, std::shared_ptr<const MachineDescription>>* machines() {
    return &machines_;
  }

 private:
  Engine(Endpoint* endpoint, const EngineOptions& options);

  // In a forked child: breaks its copies of the groups.
  void LeaveToParent();

  // --- the progress owner's role ---
  void TakeRoleBack();
  // To the progress thread, if it still may make progress and has something to do.
  void GiveRole();
  // At the end of a call with started operations.
  void LeaveActive();
  void AnnounceCompletions();
  // kUnavailable: the system makes no further thread.
  Status MakeProgressThread();
  // Notifies the listeners whether a progress thread answers, if that has changed.
  void NotifyOfProgressThread();
  bool WorkIsLeft();
  // The same, without activities that leave by themselves.
  bool OwnWorkIsLeft() const;
  ProgressThread::Step StepOfProgressThread();
  // Waits until every returned send has left, but those of broken groups not for long: their
  // receivers may never take them back.
  void AwaitSends();
  std::string DescribeSends() const;
  // Until all are over but those of broken groups and, unless `back`, what receivers have taken.
  void AwaitUnbrokenSends(bool back);

  bool AdvanceActivities();
  // `first`: of its order.
  void CheckMatchOf(Activity* first, bool is_awaited);
  // Breaks groups whose failure a callback has found, or another rank has sent.
  void BreakFailing();
  // Takes over what others have sent about the group. True if it is broken.
  static bool HasFailed(GroupState* group);
  void AnnounceFailure(const GroupState& group);
  void OnEnquiry(GroupState* group, int from, ConstByteSpan message);
  // REQUIRES: `group->failure` is set.
  void EndGroup(GroupState* group);
  void CloseIdleGroups();

  Endpoint* const endpoint_;
  const EngineOptions options_;
  SimulatedProcessor* const processor_;  // null for processors that exist
  const ForkWatch fork_watch_;
  bool progress_thread_owns_ = false;
  bool keeps_role_ = false;
  bool in_a_hurry_ = false;         // something was started in this call
  bool announces_failure_ = false;  // others of a failure, and some may not know of it yet
  EventDescriptor events_;
  // Operations need a progress owner: there was a group whose transport makes no progress alone, or
  // `events_` is open. Otherwise a progress thread is for listeners only.
  bool helps_operations_ = false;
  bool allows_progress_thread_ = false;  // at the last check
  std::unique_ptr<ProgressThread> progress_thread_;
  StagingBuffers buffers_;
  SendQueue sends_;

  std::vector<Activity*> active_;        // in program order
  std::vector<const Activity*> firsts_;  // of each order, in AdvanceActivities
  std::vector<std::unique_ptr<Activity>> idle_executors_;
  std::vector<std::unique_ptr<GroupState>> leaving_groups_;
  std::vector<GroupState*> failing_;
  std::map<std::string, std::shared_ptr<const MachineDescription>> machines_;
  uint64_t advances_ = 0;   // of activities, as counted by Move
  uint64_t enquiries_ = 0;  // that have come
  // Of MoveOnce, with the advances that it has seen, and its calls in which nothing moved.
  MatchTimer once_timer_{options_.match_check_seconds};
  uint64_t advances_before_ = 0;
  uint64_t idle_tests_ = 0;
  const Activity* awaited_ = nullptr;  // by RunToEnd
  std::vector<Listener*> listeners_;
  bool progress_thread_answers_ = false;  // as listeners were notified
  std::vector<GroupState*> groups_;       // that callers hold
  // There were some: to whom still sends to this rank nobody else says that it receives no more.
  bool left_all_groups_ = false;
  bool counts_waits_ = false;
  Clock::duration waited_{};
};

template <typename Over, typename What, typename Peer, typename Check>
void Engine::WaitUntil(const Over& over, const What& what, const Peer& peer, const Check& check) {
  const std::chrono::duration<double> interval(options_.report_seconds);
  uint64_t idle_polls = 0;
  uint64_t moves = 0;
  bool has_moved = true;       // since the clock was looked at
  Clock::time_point since;     // what is counted
  Clock::time_point began;     // a little after the first of them
  Clock::time_point reported;  // or the same
  MatchTimer timer(options_.match_check_seconds);
  std::optional<TraceSpan> wait;
  while (!over()) {
    // A single poll may take long: MPI yields inside.
    if (!wait && Trace::current() != nullptr) wait.emplace(TraceKind::kWait, 0, peer());
    const Clock::time_point polled = counts_waits_ ? Clock::now() : Clock::time_point();
    const uint64_t advances = advances_;
    const uint64_t enquiries = enquiries_;
    if (Move()) {
      // An enquiry of a rank that waits moves nothing.
      has_moved |= enquiries_ == enquiries || advances_ != advances;
      if (counts_waits_ && idle_polls > 0) waited_ += polled - since;
      idle_polls = 0;
      // Part of a segment may have moved, which ends no wait.
      if (advances_ != advances) {
        wait.reset();
        timer.Reset();
      }
      // Requests of other ranks may keep this rank from pausing, where MPI is polled.
      if (++moves % rules::kCallsPerMpiLook == 0) MpiPolls::PollIfLate();
      continue;
    }
    if (idle_polls == 0) since = polled;
    if (idle_polls == rules::kPollsBeforeClock && std::exchange(has_moved, false)) {
      reported = began = Clock::now();
      timer.Start(began);
    } else if (idle_polls >= rules::kPollsBeforeClock &&
               (idle_polls % rules::kPollsPerClock == 0 ||
                idle_polls > endpoint_->polling()->PollsBeforeSleep())) {
      const Clock::time_point now = Clock::now();
      if (interval.count() > 0 && now - reported > interval) {
        reported = now;
        const auto waited = std::chrono::duration_cast<std::chrono::seconds>(reported - began);
        options_.report(what() + ": nothing has moved for " + std::to_string(waited.count()) +
                        " s; the call still waits");
      }
      if (processor_ == nullptr && timer.IsDue(now)) check();
    }
    endpoint_->polling()->Pause(idle_polls++);
  }
  if (counts_waits_ && idle_polls > 0) waited_ += Clock::now() - since;
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ENGINE_H_
