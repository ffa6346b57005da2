// WindowWait: how calls of a window wait. A wait ends by a message, or by what another process
// writes to memory, which sends a message to a rank that sleeps, or none. A rank that is waited for
// may be lost. Where a process has several threads, a wait may need a call of another thread, which
// it lets in.

#ifndef BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
#define BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/edge/doorbell.h"
#include "transport/mpi_polls.h"
#include "transport/polling.h"
#include "transport/rules.h"
#include "windows/core/loss_watch.h"
#include "windows/core/other_threads.h"
#include "windows/sync/process_lock.h"

namespace brigade {

class WindowWait {
 public:
  // All must outlive it. `others`: null if there are none.
  WindowWait(Engine* engine, GroupState* group, OtherThreads* others)
      : engine_(engine), group_(group), others_(others), watch_(std::make_shared<LossWatch>()) {
    group->companion = watch_;
  }

  // Makes the caller the engine's progress owner. A wait gives the ownership up to let others in.
  class ProgressGuard {
   public:
    explicit ProgressGuard(WindowWait* wait) : wait_(wait) {
      wait_->owner_.emplace(wait_->engine_);
    }
    ~ProgressGuard() { wait_->owner_.reset(); }
    ProgressGuard(const ProgressGuard&) = delete;
    ProgressGuard& operator=(const ProgressGuard&) = delete;

   private:
    WindowWait* const wait_;
  };

  // Blocks until over(), and moves everything meanwhile. Returns what has broken the group, if
  // anything has. `by_message`: a message ends the wait. REQUIRES: the caller has a ProgressGuard.
  // It must read again what another thread may have changed meanwhile.
  template <typename Over>
  Status Until(bool by_message, const char* what, const Over& over) {
    return Until(others_, by_message, what, over);
  }
  // The same, and no other thread is let in.
  template <typename Over>
  Status UntilAlone(bool by_message, const char* what, const Over& over) {
    return Until(nullptr, by_message, what, over);
  }

  // The same for a flag that another process sets, after which it sends a message if it finds
  // `asleep` armed. Looks for the flag alone at first: nothing else moves meanwhile.
  template <typename Over>
  Status UntilFlag(Doorbell* asleep, const char* what, const Over& over);

  // The same until this rank holds a lock in shared memory.
  Status UntilLocked(ProcessLock* lock);

  // Moves everything, for a call that waits for nothing but may be repeated until something has
  // come. Looks now and then whether a member is lost. Returns what has broken the group. REQUIRES:
  // the caller has a ProgressGuard.
  Status Look() {
    engine_->Move();
    // A broken group is closed: its members are not checked.
    if (group_->failure.ok() && ++looks_ % kLooks == 0) {
      MpiPolls::PollIfLate();
      // Over tcp, finds the loss of a rank without a connection.
      engine_->endpoint()->polling()->Nudge();
      (void)IsLost();
    }
    return group_->failure;
  }

  // Runs a collective call of the group. `look`, if it is not empty, is called about once a second
  // meanwhile. Its failure breaks the group. REQUIRES: the caller has no ProgressGuard.
  Status Run(Group* group, const PatternCall& call, const std::function<Status()>& look = {});
  // Breaks the group, unless it is broken, and returns what broke it. REQUIRES: the caller has no
  // ProgressGuard.
  Status Break(const Status& status);

  // Whether the ranks meet in one round: few ranks that share memory, and no processor.
  bool MeetsInOneRound() const;

 private:
  // Looks at a wait before it is one that takes long.
  static constexpr uint64_t kLooks = 100;

  template <typename Over>
  Status Until(OtherThreads* others, bool by_message, const char* what, const Over& over);
  // Whether a member is: then the group is broken.
  bool IsLost();

  Engine* const engine_;
  GroupState* const group_;
  OtherThreads* const others_;
  std::optional<Engine::ProgressGuard> owner_;  // the thread that is in
  const std::shared_ptr<LossWatch> watch_;
  uint64_t looks_ = 0;  // by Look
  uint64_t waits_ = 0;  // by UntilFlag
};

template <typename Over>
Status WindowWait::UntilFlag(Doorbell* asleep, const char* what, const Over& over) {
  if (++waits_ % kLooks == 0) {  // for a caller that never waits long
    MpiPolls::PollIfLate();
    engine_->Move();
  }
  if (!group_->failure.ok() || over()) return group_->failure;
  if (others_ != nullptr) return Until(/*by_message=*/false, what, over);
  // A rank that does not sleep sees the flag.
  Polling* const polling = engine_->endpoint()->polling();
  const uint64_t awake = polling->PollsAwake();
  for (uint64_t i = 0; i < polling->PollsBeforeSleep(); ++i) {
    polling->Pause(i);
    if (i >= awake) engine_->Move();
    if (!group_->failure.ok() || over()) return group_->failure;
  }
  asleep->Arm();
  const Status status = Until(/*by_message=*/true, what, over);
  asleep->Disarm();
  return status;
}

template <typename Over>
Status WindowWait::Until(OtherThreads* others, bool by_message, const char* what,
                         const Over& over) {
  uint64_t looks = 0;
  const auto ends = [&] {
    // First the failure: `over` may take a lock, which a call that fails would not give back.
    if (!group_->failure.ok() || over()) return true;
    return ++looks >= kLooks && IsLost();
  };
  const auto describe = [&] {
    return "a window on group rank " + std::to_string(group_->rank) + " waits for " + what;
  };
  if (by_message && others == nullptr) {
    engine_->WaitUntil(ends, describe);
    if (!engine_->IsIdle()) engine_->HurryProgressThread();
    return group_->failure;
  }
  // The endpoint may not sleep: it would not be woken. A write to memory by another rank signals
  // no doorbell; and of several threads that wait, one takes in what another waits for, which
  // sleeps on. So naps are short, here and in `others`, however long it takes: a fence waits
  // several times in a row.
  constexpr std::chrono::microseconds kNap(50);
  const std::chrono::duration<double> interval(engine_->options().report_seconds);
  std::optional<Engine::Clock::time_point> reported;  // or the end of the first nap
  MpiPolls polls_of_mpi;
  Polling* const polling = engine_->endpoint()->polling();
  uint64_t moves = 0;
  for (uint64_t polls = 0; !ends();) {
    const bool moved = engine_->Move();
    // Read anew: another thread, let in, may open a group that makes it fewer.
    const bool naps = !moved && ++polls >= polling->PollsBeforeSleep();
    if (others != nullptr && (naps || others->AnyWait())) {
      owner_.reset();
      others->LetIn();
      owner_.emplace(engine_);
    } else if (naps) {
      std::this_thread::sleep_for(kNap);
    }
    if (moved) {
      polls = 0;
      if (++moves % rules::kCallsPerMpiLook == 0) MpiPolls::PollIfLate();
      continue;
    }
    if (!naps) {
      polling->Pause(polls - 1);
      continue;
    }
    polling->Nudge();
    const auto now = Engine::Clock::now();
    if (!reported.has_value()) {
      reported = now;
      polls_of_mpi.Begin();
    }
    polls_of_mpi.PollIfDue();
    if (interval.count() > 0 && now - *reported > interval) {
      reported = now;
      engine_->options().report(describe() + ": nothing has arrived; the call still waits");
    }
  }
  return group_->failure;
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
