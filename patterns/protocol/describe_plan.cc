#include "patterns/protocol/describe_plan.h"

#include <cstdint>

#include "patterns/protocol/protocol.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/shares.h"

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

// How the longest message of such calls is cut.
std::string SegmentsOf(const Plan& plan) {
  const size_t longest = plan.signature.Greatest(plan.config->settings).longest;
  const CutRule rule = plan.Rule(longest);
  const Shares& shares = plan.schedule->shares;
  const size_t bytes =
      LongestShare(shares, longest / rule.elem_bytes, rule.elem_bytes) * rule.elem_bytes;
  const SegmentPlan segments = PlanLongest(rule, shares, bytes);
  if (segments.IsOneSegment()) return "one segment";
  return std::to_string(segments.Count()) + " segments of up to " +
         std::to_string(segments.segment_bytes) + " bytes" +
         (shares.count > 0 ? " of each block" : "");
}

std::string DescribeProtocol(const Protocol& protocol) {
  return std::string(protocol.name) + ", if " + protocol.condition + "; copies: " + protocol.copies;
}

}  // namespace

std::string DescribePlan(const Plan& plan) {
  std::string text = CallsOf(plan);
  if (!plan.reason.empty()) text += ": " + plan.reason;
  if (!IsPair(plan.entry->pattern)) text += "\n  " + SegmentsOf(plan);
  text += plan.protocol_count == 1 ? "\n  protocol:"
                                   : "\n  protocols, the first one that can run a call:";
  for (int i = 0; i < plan.protocol_count; ++i) {
    text += "\n    " + DescribeProtocol(*plan.protocols[i]);
  }
  const std::string choice = plan.config->capabilities->choice;
  if (!choice.empty()) text += "\n  " + choice;
  return text;
}

}  // namespace brigade
