// ProtocolMember: a rank that runs calls on the channel of all ranks, from a protocol of its choice
// on.

#ifndef BRIGADE_TEST_SUPPORT_PROTOCOL_MEMBER_H_
#define BRIGADE_TEST_SUPPORT_PROTOCOL_MEMBER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/time_limit.h"
#include "patterns/group/group_calls.h"
#include "patterns/plan/plan.h"
#include "patterns/protocol/protocol.h"
#include "patterns/protocol/protocols.h"
#include "test/support/group_member.h"
#include "transport/channel.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {

struct ProtocolMember : GroupMember {
  ProtocolMember(InprocWorld& world, int rank, const EngineOptions& options = EngineOptions())
      : ProtocolMember(world, rank, OverShm(), options) {}
  ProtocolMember(InprocWorld& world, int rank, std::unique_ptr<Endpoint> with,
                 const EngineOptions& options)
      : GroupMember(world, rank, std::move(with), options) {
    state.config_to.assign(state.members(), &state.edge_configs.front());
    state.send_sequence.resize(state.members());
    state.receive_sequence.resize(state.members());
  }

  const Plan& PlanOf(const PatternCall& call) {
    const Plan* plan = nullptr;
    Require(FindPlan(*engine, &state, call, &plan));
    return *plan;
  }
  uint64_t* SequenceOf(const PatternCall& call) {
    const auto peer = static_cast<size_t>(call.root);
    return call.pattern == Pattern::kSend ? &state.send_sequence[peer]
           : call.pattern == Pattern::kReceive
               ? &state.receive_sequence[peer]
               : &state.scope_sequence[static_cast<int>(call.scope)];
  }
  // Runs a call by one protocol, or by the first one that can of it and those behind it in the
  // plan.
  Outcome RunBy(const Protocol& protocol, const PatternCall& call, bool or_behind = false,
                OperationStatistics* did = nullptr, Status* status = nullptr) {
    const Engine::ProgressGuard guard(engine.get());
    const Plan& plan = PlanOf(call);
    const TimeLimit limit;
    CallRun run{engine.get(), &state, plan, call, SequenceOf(call), limit, did};
    bool is_asked = false;
    Outcome outcome = Outcome::kNotNow;
    for (int i = 0; i < plan.protocol_count; ++i) {
      const Protocol* const listed = plan.protocols[i];
      is_asked = listed == &protocol || (is_asked && or_behind);
      if (is_asked) outcome = listed->run(&run);
      if (outcome == Outcome::kDone) break;
    }
    if (status != nullptr) *status = run.status;
    return outcome;
  }
  Status Run(const Protocol& first, const PatternCall& call, OperationStatistics* did = nullptr) {
    Status status;
    if (RunBy(first, call, /*or_behind=*/true, did, &status) == Outcome::kDone) return status;
    return Status(StatusCode::kInternal, "no protocol has run the call");
  }
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_PROTOCOL_MEMBER_H_
