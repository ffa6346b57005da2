#include "patterns/protocol/describe_plan.h"

#include <cstdint>

#include "patterns/model/candidates.h"
#include "patterns/protocol/protocol.h"
#include "patterns/schedule/pattern.h"

namespace brigade {
namespace {

std::string CallsOf(const Plan& plan) {
  if (IsPair(plan.entry->pattern)) {
    const uint64_t peer = plan.signature.numbers >> 32;
    return plan.entry->pattern == Pattern::kSend ? "send to rank " + std::to_string(peer)
                                                 : "receive from rank " + std::to_string(peer);
  }
  const size_t bytes = plan.signature.Greatest(plan.config->settings).longest;
  const std::string ranks = " on " + std::to_string(plan.scope->size) + " ranks";
  if (plan.entry->pattern == Pattern::kBarrier) return plan.entry->name + ranks;
  return plan.entry->name + (" of up to " + std::to_string(bytes)) + " bytes" + ranks;
}

}  // namespace

std::string DescribePlan(const Plan& plan) {
  std::string text = CallsOf(plan);
  if (!plan.reason.empty()) {
    text += ": " + plan.reason;
  } else if (!plan.entry->topologies.empty()) {
    text += ": " + TopologyName(plan.choice.topology) + ". The program has named this topology";
  }
  text += plan.protocol_count == 1 ? "\n  protocol:"
                                   : "\n  protocols, the first one that can run a call:";
  for (int i = 0; i < plan.protocol_count; ++i) {
    const Protocol& protocol = *plan.protocols[i];
    text += std::string("\n    ") + protocol.name + ": " + protocol.condition;
  }
  return text;
}

}  // namespace brigade
