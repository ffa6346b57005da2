#include "patterns/direct/broadcast_lines.h"

#include <cstddef>
#include <cstdint>

#include "membuf/pack.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/pattern.h"
#include "transport/channel.h"

namespace brigade {

bool RootTellsAll(const Topology& topology, int ranks) {
  if (topology.by_host) return false;
  switch (topology.shape) {
    case Shape::kTree:
      return topology.parameter >= ranks || ranks == 2;
    case Shape::kIncreasingRings:
    case Shape::kDecreasingRings:
      return topology.parameter >= ranks - 1;
    case Shape::kSplitRing:
      return ranks <= 3;
    default:
      return false;
  }
}

namespace {

bool IsAsUsual(const Engine& engine, const GroupState& group, const PatternCall& call,
               const Scope& scope) {
  return MayGoInLines(engine, group, call, scope) && RootTellsAll(call.topology, scope.size) &&
         call.root >= 0 && call.root < scope.size && call.locations == nullptr &&
         call.matrix.data != nullptr && FitsCopies(scope.size - 1, call.matrix.layout.bytes()) &&
         FitsLine(CutRule{scope.config->settings, /*pair=*/false, /*multi=*/false,
                          /*elem_bytes=*/1, /*wire_bytes=*/1, scope.size},
                  call.matrix.layout.bytes(), call.matrix.layout.bytes());
}

}  // namespace

LineRound RunBroadcastLines(Engine* engine, GroupState* group, const PatternCall& call,
                            OperationStatistics* did) {
  if (call.pattern != Pattern::kBroadcast || call.scope == ChannelKind::kPointToPoint) {
    return LineRound::kUnusual;
  }
  const Scope& scope = group->scope(call.scope);
  const uint64_t sequence = group->scope_sequence[static_cast<int>(call.scope)];
  if (!IsAsUsual(*engine, *group, call, scope) || IsToLookAround(sequence)) {
    return LineRound::kUnusual;
  }
  const StridedLayout& layout = call.matrix.layout;
  WireHeader header;
  SetHeader(EntryOf(call.pattern), call, sequence, layout.bytes(), &header);
  group->history(call.scope)->Put(header);
  LinesOut out;
  if (scope.rank == call.root) {
    bool all_open = true;  // all are asked, so that all edges get wide rings at once
    for (int i = 1; i < scope.size; ++i) {
      const int to = scope.GroupRank((scope.rank + i) % scope.size);
      all_open &= out.Open(engine, group, call.scope, to, layout.bytes());
    }
    if (!all_open) return LineRound::kUnusual;
    for (int i = 0; i < out.count(); ++i) {
      out.Send(i, header, [&](std::byte* payload) {
        CopyIn(payload, layout, call.matrix.data, 0, layout.bytes());
      });
    }
  } else {
    LinesIn in;
    const std::byte* const payload =
        in.Await(engine, group, call.scope, scope.GroupRank(call.root), header, layout.bytes());
    if (payload == nullptr) return LineRound::kSent;
    CopyOut(layout, call.matrix.data, 0, layout.bytes(), payload);
    in.GiveBack();
  }
  if (did != nullptr) {
    *did = OperationStatistics();
    did->messages_sent = static_cast<uint64_t>(out.count());
    did->bytes_sent = out.bytes();
    did->pieces = 1;
    did->copies = 1;
    did->bytes_copied = layout.bytes();
  }
  return LineRound::kDone;
}

}  // namespace brigade
