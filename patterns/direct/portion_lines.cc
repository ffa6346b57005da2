#include "patterns/direct/portion_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/pattern.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

bool IsRight(const Matrix& matrix, size_t elem_bytes) {
  return (matrix.data != nullptr || matrix.layout.bytes() == 0) &&
         matrix.layout.elem_bytes() == elem_bytes;
}

class Portions {
 public:
  Portions(Engine* engine, GroupState* group, const PatternCall& call, const Scope& scope,
           uint64_t sequence)
      : engine_(engine),
        group_(group),
        call_(call),
        scope_(scope),
        combines_(call.pattern == Pattern::kMultiReduce) {
    SetHeader(EntryOf(call.pattern), call, sequence, /*total_bytes=*/0, &header_);
    group->history(call.scope)->Put(header_);
  }

  // Whether each message goes from a rank to its reader, who needs no other rank's partial.
  bool IsAsUsual() const {
    if (call_.portions == nullptr || call_.locations != nullptr) return false;
    const size_t elem_bytes =
        combines_ ? ElementBytes(call_.type) : call_.portions[0].layout.elem_bytes();
    for (int q = 0; q < scope_.size; ++q) {
      if (!IsRight(call_.portions[q], elem_bytes)) return false;
    }
    if (!combines_) return FitsCopies(scope_.size - 1, BytesOf(scope_.rank));
    const bool is_exchange = ExchangesPortions(call_.topology, scope_.size, scope_.shares_memory());
    return (is_exchange || scope_.size == 2) && IsRight(call_.matrix, elem_bytes) &&
           call_.matrix.layout.bytes() == BytesOf(scope_.rank);
  }

  // False: it is not as usual, and nothing is sent.
  bool Send() {
    if (!FitsLines()) return false;
    bool all_open = true;  // all are asked, so that all edges get wide rings at once
    for (int i = 1; i < scope_.size; ++i) {
      const int to = (scope_.rank + i) % scope_.size;
      all_open &=
          out_.Open(engine_, group_, call_.scope, scope_.GroupRank(to), BytesOf(PortionTo(to)));
    }
    if (!all_open) return false;
    for (int i = 1; i < scope_.size; ++i) {
      const int portion = PortionTo((scope_.rank + i) % scope_.size);
      const Matrix& matrix = call_.portions[portion];
      out_.Send(i - 1, HeaderOf(portion), [&](std::byte* payload) {
        CopyIn(payload, matrix.layout, matrix.data, 0, matrix.layout.bytes());
      });
    }
    return true;
  }

  // False: what came, or did not, is left where it is.
  bool Receive() {
    LinesIn in;
    const std::byte* payloads[rules::kMostRanksOfRound];  // by the distance before this rank
    for (int i = 1; i < scope_.size; ++i) {
      const int from = (scope_.rank + scope_.size - i) % scope_.size;
      const int portion = combines_ ? scope_.rank : from;
      payloads[i] = in.Await(engine_, group_, call_.scope, scope_.GroupRank(from),
                             HeaderOf(portion), BytesOf(portion));
      if (payloads[i] == nullptr) return false;
    }
    if (combines_) {
      Combine(payloads);
    } else {
      for (int i = 1; i < scope_.size; ++i) {
        const Matrix& to = call_.portions[(scope_.rank + scope_.size - i) % scope_.size];
        CopyOut(to.layout, to.data, 0, to.layout.bytes(), payloads[i]);
      }
    }
    in.GiveBack();
    return true;
  }

  void Count(OperationStatistics* did) const {
    if (did == nullptr) return;
    *did = OperationStatistics();
    did->messages_sent = static_cast<uint64_t>(out_.count());
    did->bytes_sent = out_.bytes();
    did->pieces = 1;
    const size_t own = BytesOf(scope_.rank);
    size_t all = 0;
    for (int q = 0; q < scope_.size; ++q) all += BytesOf(q);
    const auto others = static_cast<uint64_t>(scope_.size - 1);
    did->copies = combines_ ? others : others + 1;
    did->bytes_copied = combines_ ? all - own : all;
    did->combines = combines_ ? others : 0;
    did->bytes_combined = did->combines * own;
  }

 private:
  size_t BytesOf(int portion) const { return call_.portions[portion].layout.bytes(); }
  int PortionTo(int rank) const { return combines_ ? rank : scope_.rank; }
  const WireHeader& HeaderOf(int portion) {
    header_.portion = portion;
    header_.total_bytes = BytesOf(portion);
    return header_;
  }

  bool FitsLines() const {
    CutRule rule{scope_.config->settings};
    rule.multi = true;
    if (combines_) rule.elem_bytes = rule.wire_bytes = ElementBytes(call_.type);
    rule.ranks = scope_.size;
    size_t longest = 0;
    for (int q = 0; q < scope_.size; ++q) longest = std::max(longest, BytesOf(q));
    return FitsLine(rule, longest, longest);
  }

  // On a circulant graph, by falling skip, those as far as that and further are added to those
  // nearer by so much. On a ring of two ranks the other's comes first.
  void Combine(const std::byte* const* payloads) const {
    const Matrix& own = call_.portions[scope_.rank];
    const Matrix& result = call_.matrix;
    const size_t bytes = own.layout.bytes();
    const size_t elems = bytes / ElementBytes(call_.type);
    const StridedLayout packed = StridedLayout::Contiguous(bytes);
    const MutableOperand target{&result.layout, result.data, 0, nullptr};
    std::byte partials[kMostNearer][rules::kShmRoundBytes];
    ConstOperand sums[rules::kMostRanksOfRound];
    sums[0] = {&own.layout, own.data, 0, nullptr};
    for (int i = 1; i < scope_.size; ++i) sums[i] = {&packed, payloads[i], 0, nullptr};
    if (call_.topology.shape != Shape::kCirculant) std::swap(sums[0], sums[1]);
    for (int count = scope_.size; count > 1;) {
      const int skip = (count + 1) / 2;
      for (int further = skip; further < count; ++further) {
        const int nearer = further - skip;
        const MutableOperand to =
            nearer == 0 ? target : MutableOperand{&packed, partials[nearer - 1], 0, nullptr};
        brigade::Combine(call_.op, call_.type, elems, to, sums[nearer], sums[further]);
        sums[nearer] = {to.layout, to.base, 0, nullptr};
      }
      count = skip;
    }
  }
  // Sums that others are added to, but for the result.
  static constexpr int kMostNearer = rules::kMostRanksOfRound / 2 - 1;
  static_assert(rules::kMostRanksOfPortions <= rules::kMostRanksOfRound);

  Engine* const engine_;
  GroupState* const group_;
  const PatternCall& call_;
  const Scope& scope_;
  const bool combines_;
  WireHeader header_;
  LinesOut out_;
};

}  // namespace

LineRound RunPortionLines(Engine* engine, GroupState* group, const PatternCall& call,
                          OperationStatistics* did) {
  const bool can_be =
      call.pattern == Pattern::kMultiBroadcast || call.pattern == Pattern::kMultiReduce;
  if (!can_be || call.scope == ChannelKind::kPointToPoint) return LineRound::kUnusual;
  const Scope& scope = group->scope(call.scope);
  const uint64_t sequence = group->scope_sequence[static_cast<int>(call.scope)];
  if (!MayGoInLines(*engine, *group, call, scope) || IsToLookAround(sequence)) {
    return LineRound::kUnusual;
  }
  Portions portions(engine, group, call, scope, sequence);
  if (!portions.IsAsUsual() || !portions.Send()) return LineRound::kUnusual;
  if (!portions.Receive()) return LineRound::kSent;
  portions.Count(did);
  return LineRound::kDone;
}

}  // namespace brigade
