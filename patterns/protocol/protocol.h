// Protocol: a way in which the bytes of a call move. A plan lists those that may run its calls, the
// preferred one first; the last one runs every call.

#ifndef BRIGADE_PATTERNS_PROTOCOL_PROTOCOL_H_
#define BRIGADE_PATTERNS_PROTOCOL_PROTOCOL_H_

#include <cstdint>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/time_limit.h"
#include "patterns/plan/plan.h"

namespace brigade {

// A blocking call that runs under a progress guard.
struct CallRun {
  Engine* const engine;
  GroupState* const group;
  const Plan& plan;
  const PatternCall& call;  // as given, and checked: see Resolved
  uint64_t* const
      sequence;  // the call's number on its channel; the protocol that runs it counts on
  const TimeLimit& limit;
  OperationStatistics* const did;  // null: not wanted
  Status status{};                 // of a call that is done
  bool has_polled =
      false;  // of a receive: for its message, for as long as the transport stays awake
};

// The answer of a protocol.
enum class Outcome {
  kDone,    // it has run, as CallRun::status says
  kNotNow,  // nothing of the call's data was sent
};

struct Protocol {
  const char* name;
  // For people: when it serves a call, and the copies of a message.
  const char* condition;
  const char* copies;
  // Whether it serves only ranks that share memory.
  bool over_edges;
  // Whether a plan lists it. Called once, when the plan is made.
  bool (*applies)(const Plan& plan);
  Outcome (*run)(CallRun* run);
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_PROTOCOL_H_
