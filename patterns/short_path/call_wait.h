// CallWait: how a call waits, and how it ends if it fails, whatever way its messages go.

#ifndef BRIGADE_PATTERNS_SHORT_PATH_CALL_WAIT_H_
#define BRIGADE_PATTERNS_SHORT_PATH_CALL_WAIT_H_

#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/time_limit.h"
#include "transport/channel.h"

namespace brigade {

struct CallWait {
  // Whatever happens, until `over()`.
  template <typename Over>
  void Await(const Over& over);
  // Fails if the group breaks meanwhile, or the call takes too long.
  template <typename Over>
  Status Until(const Over& over);
  // Whether it has by now.
  Status Failure() const;
  std::string Describe() const;
  // After a failure: nothing of the group moves any more. What the call returns.
  Status Break(const Status& status);

  Engine* engine = nullptr;
  GroupState* group = nullptr;
  const CatalogueEntry* entry = nullptr;
  ChannelKind kind = ChannelKind::kPointToPoint;
  uint64_t sequence = 0;  // of the call
  double timeout_seconds = 0;
  int peer = -1;      // that it waits for: its rank in the group
  TimeLimit limit{};  // once it has waited
};

template <typename Over>
void CallWait::Await(const Over& over) {
  group->is_held = true;
  engine->WaitUntil(
      over, [&] { return Describe(); }, [&] { return peer; });
  group->is_held = false;
}

template <typename Over>
Status CallWait::Until(const Over& over) {
  if (!limit.is_set()) limit.Start(timeout_seconds);
  bool late = false;
  Await([&] {
    if (!group->failure.ok() || over()) return true;
    late = limit.is_over();
    return late;
  });
  if (!group->failure.ok()) return group->failure;
  return late ? TimeLimit::TooLate(timeout_seconds) : Status();
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SHORT_PATH_CALL_WAIT_H_
