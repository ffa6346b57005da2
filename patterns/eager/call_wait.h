// CallWait: how a call waits, and how it ends if it fails, whatever way its messages go.

#ifndef BRIGADE_PATTERNS_EAGER_CALL_WAIT_H_
#define BRIGADE_PATTERNS_EAGER_CALL_WAIT_H_

#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/match_check.h"
#include "patterns/engine/time_limit.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/schedule.h"
#include "transport/channel.h"

namespace brigade {

struct CallWait {
  // Whatever happens, until `over()`.
  template <typename Over>
  void Await(const Over& over) {
    Await(over, [] {});
  }
  // Fails if the group breaks meanwhile, or the call takes too long.
  template <typename Over>
  Status Until(const Over& over) {
    return Until(over, [] { return Status(); });
  }
  // The same of a message from `peer`: finds out whether the calls match if that takes long.
  // REQUIRES: `header` and `schedule` are set, and nothing else is under way on the channel.
  template <typename Over>
  Status UntilMessage(const Over& over);
  WaitingCall Waiting() const { return {group, kind, *header, schedule, peer}; }
  std::string Describe() const;
  // Breaks the group after a failure: nothing of the group moves any more. Returns the status that
  // the call returns.
  Status Break(const Status& status);

  Engine* engine = nullptr;
  GroupState* group = nullptr;
  const CatalogueEntry* entry = nullptr;
  ChannelKind kind = ChannelKind::kPointToPoint;
  uint64_t sequence = 0;  // of the call
  double timeout_seconds = 0;
  int peer = -1;                       // that it waits for: its rank in the group
  TimeLimit limit{};                   // of `timeout_seconds`, which began with the call
  const WireHeader* header = nullptr;  // of the messages of a call along a schedule
  const Schedule* schedule = nullptr;

 private:
  template <typename Over, typename Check>
  void Await(const Over& over, const Check& check);
  template <typename Over, typename Check>
  Status Until(const Over& over, const Check& check);
};

template <typename Over, typename Check>
void CallWait::Await(const Over& over, const Check& check) {
  group->is_held = true;
  engine->WaitUntil(
      over, [&] { return Describe(); }, [&] { return peer; }, check);
  group->is_held = false;
}

template <typename Over, typename Check>
Status CallWait::Until(const Over& over, const Check& check) {
  bool late = false;
  Status checked;
  const auto ends = [&] {
    if (!group->failure.ok() || !checked.ok() || over()) return true;
    late = limit.is_over();
    return late;
  };
  Await(ends, [&] { checked = check(); });
  if (!group->failure.ok()) return group->failure;
  if (!checked.ok()) return checked;
  return late ? TimeLimit::TooLate(timeout_seconds) : Status();
}

template <typename Over>
Status CallWait::UntilMessage(const Over& over) {
  const Status status = Until(over, [&] { return CheckMatch(engine->endpoint(), Waiting()); });
  group->long_wait.reset();
  return status;
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_CALL_WAIT_H_
