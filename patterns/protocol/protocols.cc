#include "patterns/protocol/protocols.h"

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr const Protocol* kProtocols[] = {&kPostedBuffer, &kInlineMessage, &kInlineCollective,
                                          &kZeroCopyRead, &kEagerShared,   &kEager,
                                          &kPipelined};

}  // namespace

std::vector<const Protocol*> ProtocolsFor(const CatalogueEntry& entry, bool edges) {
  std::vector<const Protocol*> protocols;
  for (const Protocol* const protocol : kProtocols) {
    if ((edges || !protocol->over_edges) && protocol->serves(entry)) protocols.push_back(protocol);
  }
  return protocols;
}

void ListProtocols(const GroupState& group, Plan* plan) {
  const bool edges = group.edges != nullptr && plan->config->capabilities->max_inline_bytes > 0;
  for (const Protocol* const protocol : ProtocolsFor(*plan->entry, edges)) {
    if (!protocol->applies(*plan)) continue;
    BRIGADE_CHECK_LT(plan->protocol_count, Plan::kMostProtocols);
    plan->protocols[plan->protocol_count++] = protocol;
  }
}

}  // namespace brigade
