#include "patterns/direct/exchange_lines.h"

#include <cstddef>
#include <cstring>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/pattern.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

// Whether all send to whoever is to have the result, and that combines them one after the other,
// from the root on: what a tree of so many branches does.
bool IsExchange(const PatternCall& call, const Scope& scope) {
  const Topology& topology = call.topology;
  if (call.pattern == Pattern::kBarrier) return scope.size <= kMostInOneRound;
  if (topology.by_host) return false;
  if (call.pattern == Pattern::kAllReduce && scope.size == 2) {
    if (topology.shape == Shape::kHypercube) return true;
  }
  return topology.shape == Shape::kExchange && topology.parameter >= scope.size;
}

bool IsAsUsual(const Engine& engine, const GroupState& group, const PatternCall& call,
               const Scope& scope) {
  if (!MayGoInLines(engine, group, call, scope) || !IsExchange(call, scope)) return false;
  if (call.pattern == Pattern::kBarrier) return true;
  return call.matrix.data != nullptr && call.root >= 0 && call.root < scope.size &&
         call.matrix.layout.elem_bytes() == ElementBytes(call.type) &&
         (call.locations == nullptr || call.op != CombineOp::kSum);
}

class Exchange {
 public:
  Exchange(Engine* engine, GroupState* group, const PatternCall& call, const Scope& scope,
           uint64_t sequence)
      : engine_(engine),
        group_(group),
        call_(call),
        scope_(scope),
        combines_(call.pattern != Pattern::kBarrier),
        to_all_(call.pattern != Pattern::kReduce),
        bytes_(combines_ ? call.matrix.layout.bytes() : 0),
        wire_bytes_(call.locations == nullptr
                        ? bytes_
                        : bytes_ + bytes_ / ElementBytes(call.type) * sizeof(int32_t)) {
    SetHeader(EntryOf(call.pattern), call, sequence, bytes_, &header_);
    group->history(call.scope)->Put(header_);
  }

  // False: it is not as usual, and nothing is sent.
  bool Send() {
    if (!FitsLines()) return false;
    const int receivers = to_all_ ? scope_.size - 1 : scope_.rank == call_.root ? 0 : 1;
    bool all_open = true;  // all are asked, so that all edges get wide rings at once
    for (int i = 0; i < receivers; ++i) {
      const int to = to_all_ ? (scope_.rank + 1 + i) % scope_.size : call_.root;
      all_open &= out_.Open(engine_, group_, call_.scope, scope_.GroupRank(to), wire_bytes_);
    }
    if (!all_open) return false;
    for (int i = 0; i < receivers; ++i) {
      out_.Send(i, header_, [&](std::byte* payload) {
        if (combines_) CopyTo(payload);
      });
    }
    return true;
  }

  // False: what came, or did not, is left where it is.
  bool Receive() {
    if (!to_all_ && scope_.rank != call_.root) return true;
    LinesIn in;
    const std::byte* contributions[rules::kMostRanksOfRound];  // by the distance from the root
    for (int i = 0; i < scope_.size; ++i) {
      const int from = (call_.root + i) % scope_.size;
      contributions[i] = nullptr;  // one's own
      if (from == scope_.rank) continue;
      contributions[i] =
          in.Await(engine_, group_, call_.scope, scope_.GroupRank(from), header_, wire_bytes_);
      if (contributions[i] == nullptr) return false;
    }
    if (combines_) Combine(contributions);
    in.GiveBack();
    return true;
  }

  void Count(OperationStatistics* did) const {
    if (did == nullptr) return;
    *did = OperationStatistics();
    did->messages_sent = static_cast<uint64_t>(out_.count());
    did->bytes_sent = out_.bytes();
    did->pieces = 1;
    if (out_.count() > 0) {
      did->copies = 1;
      did->bytes_copied = bytes_;
    }
    if (!combines_ || (!to_all_ && scope_.rank != call_.root)) return;
    did->combines = static_cast<uint64_t>(scope_.size - 1);
    did->bytes_combined = did->combines * bytes_;
  }

 private:
  bool FitsLines() const {
    CutRule rule{scope_.config->settings};
    rule.elem_bytes = ElementBytes(call_.type);
    rule.wire_bytes = rule.elem_bytes + (call_.locations == nullptr ? 0 : sizeof(int32_t));
    rule.ranks = scope_.size;
    return FitsLine(rule, bytes_, wire_bytes_);
  }

  void CopyTo(std::byte* payload) const {
    CopyIn(payload, call_.matrix.layout, call_.matrix.data, 0, bytes_);
    if (call_.locations == nullptr) return;
    std::memcpy(payload + bytes_, call_.locations, wire_bytes_ - bytes_);
  }

  // The result comes into the matrix in the last step, before which this rank's own contribution is
  // read there.
  void Combine(const std::byte* const* contributions) const {
    const StridedLayout packed = StridedLayout::Contiguous(bytes_);
    std::byte partial[rules::kShmRoundBytes];
    const auto locations_in = [&](const std::byte* payload) {
      return call_.locations == nullptr ? nullptr
                                        : reinterpret_cast<const int32_t*>(payload + bytes_);
    };
    const auto operand = [&](const std::byte* payload) {
      return payload == nullptr
                 ? ConstOperand{&call_.matrix.layout, call_.matrix.data, 0, call_.locations}
                 : ConstOperand{&packed, payload, 0, locations_in(payload)};
    };
    const size_t elems = bytes_ / ElementBytes(call_.type);
    ConstOperand left = operand(contributions[0]);
    for (int i = 1; i < scope_.size; ++i) {
      const bool last = i == scope_.size - 1;
      const MutableOperand target =
          last ? MutableOperand{&call_.matrix.layout, call_.matrix.data, 0, call_.locations}
               : MutableOperand{&packed, partial, 0, const_cast<int32_t*>(locations_in(partial))};
      brigade::Combine(call_.op, call_.type, elems, target, left, operand(contributions[i]));
      left = operand(partial);
    }
  }

  Engine* const engine_;
  GroupState* const group_;
  const PatternCall& call_;
  const Scope& scope_;
  const bool combines_;
  const bool to_all_;
  const size_t bytes_;
  const size_t wire_bytes_;
  WireHeader header_;
  LinesOut out_;
};

}  // namespace

LineRound RunExchangeLines(Engine* engine, GroupState* group, const PatternCall& call,
                           OperationStatistics* did) {
  const bool can_be = call.pattern == Pattern::kAllReduce || call.pattern == Pattern::kReduce ||
                      call.pattern == Pattern::kBarrier;
  if (!can_be || call.scope == ChannelKind::kPointToPoint) return LineRound::kUnusual;
  const Scope& scope = group->scope(call.scope);
  if (!IsAsUsual(*engine, *group, call, scope)) return LineRound::kUnusual;
  const uint64_t sequence = group->scope_sequence[static_cast<int>(call.scope)];
  if (IsToLookAround(sequence)) return LineRound::kUnusual;
  Exchange exchange(engine, group, call, scope, sequence);
  if (!exchange.Send()) return LineRound::kUnusual;
  if (!exchange.Receive()) return LineRound::kSent;
  exchange.Count(did);
  return LineRound::kDone;
}

}  // namespace brigade
