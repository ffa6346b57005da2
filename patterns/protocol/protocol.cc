#include "patterns/protocol/protocol.h"

#include "membuf/check.h"
#include "patterns/protocol/protocols.h"

namespace brigade {
namespace {

constexpr const Protocol* kProtocols[] = {&kPostedBuffer, &kInlineMessage, &kInlineCollective,
                                          &kZeroCopyRead, &kEagerShared,   &kEager,
                                          &kPipelined};

}  // namespace

void ListProtocols(const GroupState& group, Plan* plan) {
  for (const Protocol* const protocol : kProtocols) {
    if (!protocol->applies(group, *plan)) continue;
    BRIGADE_CHECK_LT(plan->protocol_count, Plan::kMostProtocols);
    plan->protocols[plan->protocol_count++] = protocol;
  }
}

}  // namespace brigade
