// Plan: what ranks do in the calls of one signature. Made once, and immutable.
//
// Properties that are equal on all ranks determine entry, topology, schedule, segments and header;
// so all ranks of a scope send and receive the same messages. A rank takes the first of its
// protocols that can run a call, and another rank may take another one.

#ifndef BRIGADE_PATTERNS_PLAN_PLAN_H_
#define BRIGADE_PATTERNS_PLAN_PLAN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/engine/wire_header.h"
#include "patterns/model/model_choice.h"
#include "patterns/plan/call_schedule.h"
#include "patterns/plan/inline_program.h"
#include "patterns/plan/signature.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/read_schedule.h"
#include "patterns/schedule/schedule.h"
#include "transport/channel.h"

namespace brigade {

struct Protocol;

struct Plan : std::enable_shared_from_this<Plan> {
  Signature signature;
  const CatalogueEntry* entry = nullptr;
  ChannelKind kind = ChannelKind::kPointToPoint;
  const Scope* scope = nullptr;
  const EdgeConfig* config = nullptr;        // of the scope, or of the peer
  std::shared_ptr<const Schedule> schedule;  // of the calling rank
  ModelChoice choice;                        // the topology, and how messages are cut
  WireHeader header;   // of its messages, without sequence, block and byte count
  std::string reason;  // for the topology, as a text; empty if the call named it
  // Of one element, in user memory and on the wire; 1 for calls without arithmetic.
  size_t elem_bytes = 1;
  size_t wire_elem_bytes = 1;
  InlineProgram inline_program;
  ReadSchedule read_schedule;  // empty: the calls have no zero-copy reads
  static constexpr int kMostProtocols = 5;
  int protocol_count = 0;
  const Protocol* protocols[kMostProtocols];

  // Returns `call` with the plan's topology and segments, and without what its pattern ignores:
  // the call itself, or *copy. REQUIRES: it has the plan's signature.
  const PatternCall& Resolved(const PatternCall& call, std::optional<PatternCall>* copy) const;

  // Returns how messages of calls are cut whose longest message has `longest` bytes.
  CutRule Rule(size_t longest) const;
};

// Fills in all of a plan but its protocols. kInvalidArgument: no rank can make such a call.
// REQUIRES: of a point-to-point call, the group is prepared for these.
Status MakePlan(const EngineOptions& options, const HostOfRank& host_of, const GroupState& group,
                const PatternCall& call, const Signature& signature, Plan* plan);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_PLAN_H_
