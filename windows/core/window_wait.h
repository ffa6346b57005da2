// WindowWait: how calls of a window wait. What they wait for comes by a message, or is written by
// another process into memory, of which nobody is told, or only who sleeps; and whoever should do
// it may be lost. Where a process has threads it may also need a call of another one, which is let
// in meanwhile.

#ifndef BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
#define BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "membuf/rules.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/edge/bell.h"
#include "transport/mpi_polls.h"
#include "windows/core/loss_watch.h"
#include "windows/core/other_threads.h"

namespace brigade {

class WindowWait {
 public:
  // All must outlive it. `others`: null if there are none.
  WindowWait(Engine* engine, GroupState* group, OtherThreads* others)
      : engine_(engine), group_(group), others_(others), watch_(std::make_shared<LossWatch>()) {
    group->companion = watch_;
  }

  // A turn of the engine which a wait interrupts to let others in.
  class Turn {
   public:
    explicit Turn(WindowWait* wait) : wait_(wait) { wait_->turn_.emplace(wait_->engine_); }
    ~Turn() { wait_->turn_.reset(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    WindowWait* const wait_;
  };

  // Moves everything until over(), or until the group is broken, which is then the outcome.
  // `is_told`: what ends the wait comes by a message. REQUIRES: the caller has a Turn. What another
  // thread may change meanwhile must be looked at anew.
  template <typename Over>
  Status Until(bool is_told, const char* what, const Over& over) {
    return Until(others_, is_told, what, over);
  }
  // The same, and no other thread is let in.
  template <typename Over>
  Status UntilAlone(bool is_told, const char* what, const Over& over) {
    return Until(nullptr, is_told, what, over);
  }

  // The same for what another process writes to memory, and then sends a message if it finds
  // `asleep` armed. What is there soon is looked for alone: nothing else moves meanwhile.
  template <typename Over>
  Status UntilSaid(Bell* asleep, const char* what, const Over& over);

  // Of a call that waits for nothing, but may be made until something has come: moves everything,
  // and now and then looks whether whoever should do it is lost. What the group is broken by.
  // REQUIRES: the caller has a Turn.
  Status Look() {
    engine_->Move();
    // What is broken is closed, and is not asked about.
    if (group_->failure.ok() && ++looks_ % kLooks == 0) {
      MpiPolls::PollIfLate();
      engine_->endpoint()->Nudge();  // over tcp nothing is heard of who never had a connection
      (void)IsLost();
    }
    return group_->failure;
  }

  // A collective call of the group, to its end. REQUIRES: the caller has no turn.
  Status Run(Group* group, const PatternCall& call);

 private:
  // Looks at a wait before it is one that takes long.
  static constexpr uint64_t kLooks = 100;

  template <typename Over>
  Status Until(OtherThreads* others, bool is_told, const char* what, const Over& over);
  // Whether a member is: then the group is broken.
  bool IsLost();

  Engine* const engine_;
  GroupState* const group_;
  OtherThreads* const others_;
  std::optional<Engine::Turn> turn_;  // of the thread that is in
  const std::shared_ptr<LossWatch> watch_;
  uint64_t looks_ = 0;  // by Look
  uint64_t waits_ = 0;  // by UntilSaid
};

template <typename Over>
Status WindowWait::UntilSaid(Bell* asleep, const char* what, const Over& over) {
  if (++waits_ % kLooks == 0) {  // for whoever never waits long
    MpiPolls::PollIfLate();
    engine_->Move();
  }
  if (!group_->failure.ok() || over()) return group_->failure;
  if (others_ != nullptr) return Until(/*is_told=*/false, what, over);
  // As long as it does not sleep it sees for itself what is written.
  Endpoint* const endpoint = engine_->endpoint();
  const uint64_t awake = endpoint->PollsAwake();
  for (uint64_t i = 0; i < endpoint->PollsBeforeSleep(); ++i) {
    endpoint->Pause(i);
    if (i >= awake) engine_->Move();
    if (!group_->failure.ok() || over()) return group_->failure;
  }
  asleep->Arm();
  const Status status = Until(/*is_told=*/true, what, over);
  asleep->Disarm();
  return status;
}

template <typename Over>
Status WindowWait::Until(OtherThreads* others, bool is_told, const char* what, const Over& over) {
  uint64_t looks = 0;
  const auto ends = [&] {
    if (over() || !group_->failure.ok()) return true;
    return ++looks >= kLooks && IsLost();
  };
  const auto describe = [&] {
    return "a window on group rank " + std::to_string(group_->rank) + " waits for " + what;
  };
  if (is_told && others == nullptr) {
    engine_->WaitUntil(ends, describe);
    if (!engine_->IsIdle()) engine_->HurryHelper();
    return group_->failure;
  }
  // The endpoint may not sleep: it would not be woken. What others write to memory rings no bell;
  // and of several threads that wait, one takes in what another waits for, who sleeps on. So naps
  // are short, here and in `others`, however long it takes: a fence waits several times in a row.
  constexpr std::chrono::microseconds kNap(50);
  const std::chrono::duration<double> interval(engine_->options().report_seconds);
  std::optional<Engine::Clock::time_point> reported;  // or the end of the first nap
  MpiPolls polls_of_mpi;
  uint64_t moves = 0;
  for (uint64_t polls = 0; !ends();) {
    const bool moved = engine_->Move();
    // Asked anew: another thread, let in, may open a group that makes it fewer.
    const bool naps = !moved && ++polls >= engine_->endpoint()->PollsBeforeSleep();
    if (others != nullptr && (naps || others->AnyWait())) {
      turn_.reset();
      others->LetIn();
      turn_.emplace(engine_);
    } else if (naps) {
      std::this_thread::sleep_for(kNap);
    }
    if (moved) {
      polls = 0;
      if (++moves % rules::kCallsPerMpiLook == 0) MpiPolls::PollIfLate();
      continue;
    }
    if (!naps) {
      engine_->endpoint()->Pause(polls - 1);
      continue;
    }
    engine_->endpoint()->Nudge();
    const auto now = Engine::Clock::now();
    if (!reported.has_value()) {
      reported = now;
      polls_of_mpi.Begin();
    }
    polls_of_mpi.PollIfDue();
    if (interval.count() > 0 && now - *reported > interval) {
      reported = now;
      engine_->options().report(describe() + ": nothing has come, and it goes on waiting");
    }
  }
  return group_->failure;
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_WAIT_H_
