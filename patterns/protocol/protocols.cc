#include "patterns/protocol/protocols.h"

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr const Protocol* kProtocols[] = {&kPostedBuffer, &kInlineMessage, &kInlineCollective,
                                          &kZeroCopyRead, &kEagerShared,   &kEager,
                                          &kPipelined};

}  // namespace

void ListProtocols(bool has_edges, Plan* plan) {
  const bool shares_memory = has_edges && plan->config->capabilities->max_inline_bytes > 0;
  for (const Protocol* const protocol : kProtocols) {
    if ((protocol->over_edges && !shares_memory) || !protocol->applies(*plan)) continue;
    BRIGADE_CHECK_LT(plan->protocol_count, Plan::kMostProtocols);
    plan->protocols[plan->protocol_count++] = protocol;
  }
}

}  // namespace brigade
