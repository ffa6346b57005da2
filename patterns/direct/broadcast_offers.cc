#include "patterns/direct/broadcast_offers.h"

#include <cstddef>

#include "membuf/rules.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/direct/broadcast_lines.h"
#include "patterns/direct/line_round.h"
#include "patterns/direct/offers.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/pattern.h"
#include "patterns/short_path/call_wait.h"
#include "patterns/short_path/group_edges.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

static_assert(rules::kMostRanksOfRound - 1 <= OffersOut::kMostReaders);

bool IsAsUsual(const Engine& engine, const GroupState& group, const PatternCall& call,
               const Scope& scope) {
  return call.matrix.layout.bytes() >= rules::kLeastOfferedBytes &&
         MayGoInLines(engine, group, call, scope) && RootTellsAll(call.topology, scope.size) &&
         call.root >= 0 && call.root < scope.size && call.locations == nullptr &&
         call.matrix.data != nullptr;
}

// The ranks of the scope that have the message.
uint64_t Offer(const CallWait& wait, const PatternCall& call, const Scope& scope,
               const WireHeader& header) {
  OffersOut out(wait);
  for (int i = 1; i < scope.size; ++i) {
    if (!out.Add(scope.GroupRank((scope.rank + i) % scope.size))) return 0;
  }
  const bool is_awaited = out.MayOffer(call.matrix) && out.IsAwaited();
  const uint64_t readers = is_awaited ? out.Send(header) : 0;
  uint64_t served = 0;
  for (int i = 1; i < scope.size; ++i) {
    if ((readers >> (i - 1) & 1) != 0) served |= uint64_t{1} << (scope.rank + i) % scope.size;
  }
  return served;
}

bool Receive(CallWait wait, const PatternCall& call, const Scope& scope, const WireHeader& header) {
  wait.peer = scope.GroupRank(call.root);
  InEdge* const edge = EdgeFrom(wait.group, call.scope, wait.peer);
  if (edge == nullptr || edge->Peek() != nullptr || !edge->AwaitOffer(call.matrix.layout)) {
    return false;
  }
  (void)AwaitMessageOrOffer(&wait, edge);
  return edge->has_offer() && ReadOffer(edge, header, call.matrix);
}

}  // namespace

bool RunBroadcastOffers(Engine* engine, GroupState* group, const PatternCall& call,
                        OperationStatistics* did, uint64_t* served) {
  if (call.pattern != Pattern::kBroadcast || call.scope == ChannelKind::kPointToPoint) return false;
  const Scope& scope = group->scope(call.scope);
  const uint64_t sequence = group->scope_sequence[static_cast<int>(call.scope)];
  if (!IsAsUsual(*engine, *group, call, scope) || IsToLookAround(sequence)) return false;
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const size_t bytes = call.matrix.layout.bytes();
  WireHeader header;
  SetHeader(entry, call, sequence, bytes, &header);
  const CallWait wait{engine, group, &entry, call.scope, sequence, call.timeout_seconds};
  const bool is_root = scope.rank == call.root;
  if (is_root) {
    *served = Offer(wait, call, scope, header);
    const uint64_t all = (uint64_t{1} << scope.size) - 1;
    if (*served != (all & ~(uint64_t{1} << scope.rank))) return false;
  } else if (!Receive(wait, call, scope, header)) {
    return false;
  }
  if (did != nullptr) {
    *did = OperationStatistics();
    did->pieces = 1;
    did->copies = is_root ? 0 : 1;
    did->bytes_copied = is_root ? 0 : bytes;
    CountServed(call, *served, did);
  }
  return true;
}

void CountServed(const PatternCall& call, uint64_t served, OperationStatistics* did) {
  for (; served != 0; served &= served - 1) {
    ++did->messages_sent;
    did->bytes_sent += kHeaderBytes + call.matrix.layout.bytes();
  }
}

}  // namespace brigade
