#include "patterns/direct/broadcast_offers.h"

#include <cstddef>

#include "membuf/rules.h"
#include "membuf/status.h"
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
         MayGoInLines(engine, group, call, scope) &&
         CheckTopology(call.pattern, call.topology).ok() && call.root >= 0 &&
         call.root < scope.size && call.locations == nullptr && call.matrix.data != nullptr;
}

void Offer(const CallWait& wait, const PatternCall& call, const Scope& scope,
           const WireHeader& header, AfterOffers* after) {
  OffersOut out(wait);
  for (int i = 1; i < scope.size; ++i) {
    if (!out.Add(scope.GroupRank((scope.rank + i) % scope.size))) return;
  }
  // Who asks for relays wants the root to go on soon: it does not look for who waits later.
  const bool some_relay = !RootTellsAll(call.topology, scope.size);
  if (!out.MayOffer(call.matrix) || !out.IsAwaited(/*looks=*/!some_relay) ||
      !out.Offer(header, some_relay)) {
    return;
  }
  after->root_tells_all = true;
  const uint64_t readers = out.AwaitReaders();
  for (int i = 1; i < scope.size; ++i) {
    if ((readers >> (i - 1) & 1) == 0) continue;
    after->served |= uint64_t{1} << (scope.rank + i) % scope.size;
  }
}

// Whether a message has come that may be one of this call, from the root, or from any rank where
// some relay: then the call goes along its topology.
bool IsSent(const CallWait& wait, const Scope& scope, bool some_relay) {
  const auto is_from = [&](int peer) {
    InEdge* const edge = EdgeFrom(wait.group, wait.kind, peer);
    return edge != nullptr && edge->Peek() != nullptr;
  };
  if (!some_relay) return is_from(wait.peer);
  for (int i = 1; i < scope.size; ++i) {
    if (is_from(scope.GroupRank((scope.rank + i) % scope.size))) return true;
  }
  return false;
}

// Nobody copies to this rank's memory, so it may leave when the call fails.
bool Receive(CallWait wait, const PatternCall& call, const Scope& scope, const WireHeader& header,
             AfterOffers* after) {
  wait.peer = scope.GroupRank(call.root);
  InEdge* const edge = EdgeFrom(wait.group, wait.kind, wait.peer);
  const bool some_relay = !RootTellsAll(call.topology, scope.size);
  if (edge == nullptr || IsSent(wait, scope, some_relay) ||
      !edge->AwaitOffer(call.matrix.layout, wait.sequence)) {
    return false;
  }
  const auto is_decided = [&] { return edge->TakeOffer() || IsSent(wait, scope, some_relay); };
  const bool has_offer = PollUntil(wait.engine, wait.peer, is_decided) && edge->has_offer();
  if (!has_offer) {
    const Status waited =
        wait.Until([&] { return edge->TakeLandingBack() || edge->TakeOffer() || edge->lost(); });
    if (!waited.ok()) {
      (void)wait.Break(waited);
      return false;
    }
  }
  after->root_tells_all = edge->has_offer() || edge->WasHeld();
  return edge->has_offer() && ReadOffer(edge, header, call.matrix);
}

}  // namespace

bool RunBroadcastOffers(Engine* engine, GroupState* group, const PatternCall& call,
                        OperationStatistics* did, AfterOffers* after) {
  if (call.pattern != Pattern::kBroadcast || call.scope == ChannelKind::kPointToPoint) return false;
  const Scope& scope = group->scope(call.scope);
  const uint64_t sequence = group->scope_sequence[static_cast<int>(call.scope)];
  if (!IsAsUsual(*engine, *group, call, scope) || IsToLookAround(sequence)) return false;
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const size_t bytes = call.matrix.layout.bytes();
  WireHeader header;
  SetHeader(entry, call, sequence, bytes, &header);
  group->history(call.scope)->Put(header);
  const CallWait wait{engine, group, &entry, call.scope, sequence, call.timeout_seconds};
  const bool is_root = scope.rank == call.root;
  if (is_root) {
    Offer(wait, call, scope, header, after);
    const uint64_t all = (uint64_t{1} << scope.size) - 1;
    if (after->served != (all & ~(uint64_t{1} << scope.rank))) return false;
  } else if (!Receive(wait, call, scope, header, after)) {
    return false;
  }
  if (did != nullptr) {
    *did = OperationStatistics();
    did->pieces = 1;
    did->copies = is_root ? 0 : 1;
    did->bytes_copied = is_root ? 0 : bytes;
    CountServed(call, after->served, did);
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
