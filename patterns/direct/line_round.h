// LineRound: the messages of one round between a few ranks that share memory, each of which lies
// beside its flag. All that a rank sends is sent or nothing is, and all that it receives is there
// or nothing is taken. Nothing is compiled, looked up or validated for a call that one look does
// not show to be as usual.
//
// The messages are those of a schedule, so that some ranks may go this way and others another.

#ifndef BRIGADE_PATTERNS_DIRECT_LINE_ROUND_H_
#define BRIGADE_PATTERNS_DIRECT_LINE_ROUND_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "membuf/rules.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/short_path/group_edges.h"
#include "patterns/trace/trace.h"
#include "transport/edge/edge.h"

namespace brigade {

// What became of a call.
enum class LineRound {
  kDone,
  kUnusual,  // nothing happened
  // This rank's messages are sent, and what it receives is left where it is, for
  // ShortPath::RunAfterSends.
  kSent,
};

inline bool MayGoInLines(const Engine& engine, const GroupState& group, const PatternCall& call,
                         const Scope& scope) {
  return scope.size >= 2 && scope.size <= rules::kMostRanksOfRound && scope.shares_memory() &&
         scope.config->capabilities->line_bytes > 0 && call.piece_bytes == 0 &&
         group.failure.ok() && engine.IsIdle() && !group.lines_to.empty() &&
         engine.processor() == nullptr && Trace::current() == nullptr;
}

// Whether messages of up to so many bytes, that many of them on the wire, lie beside their flags
// and are cut by nobody.
inline bool FitsLine(const CutRule& rule, size_t longest_bytes, size_t wire_bytes) {
  if (kHeaderBytes + wire_bytes <= Slot::kLineBytes) return true;
  if (wire_bytes > rules::kShmRoundBytes) return false;
  const PiecePlan plan = PlanLongest(rule, Shares(), longest_bytes);
  return plan.IsOnePiece() && !plan.header_ahead;
}

// Whether a message may be copied once for each of so many readers, each into its line: beyond, one
// copy that serves all takes less than the miss that it costs them.
inline bool FitsCopies(int readers, size_t bytes) {
  return static_cast<size_t>(readers) * bytes <= rules::kShmRoundBytes;
}

class LinesOut {
 public:
  // The next message, to a rank of the group. False: there is no line for it now.
  bool Open(Engine* engine, GroupState* group, ChannelKind kind, int peer, size_t payload_bytes) {
    OutEdge* const edge = EdgeTo(engine, group, kind, peer);
    const size_t bytes = kHeaderBytes + payload_bytes;
    Slot* const slot = edge == nullptr             ? nullptr
                       : bytes <= Slot::kLineBytes ? edge->Next()
                                                   : edge->NextForLongLine(bytes);
    if (slot == nullptr) return false;
    lines_[count_++] = {edge, slot, bytes};
    return true;
  }
  // Message `i`, once all are open; `write` writes the payload.
  template <typename Write>
  void Send(int i, const WireHeader& header, const Write& write) {
    const Line& line = lines_[i];
    line.slot->kind = Slot::kLine;
    line.slot->bytes = static_cast<uint16_t>(line.bytes);
    std::memcpy(PayloadOf(line.slot), &header, kHeaderBytes);
    write(PayloadOf(line.slot) + kHeaderBytes);
    line.edge->Publish(line.slot);
  }
  int count() const { return count_; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (int i = 0; i < count_; ++i) sum += lines_[i].bytes;
    return sum;
  }

 private:
  struct Line {
    OutEdge* edge;
    Slot* slot;
    size_t bytes;
  };
  Line lines_[rules::kMostRanksOfRound];
  int count_ = 0;
};

class LinesIn {
 public:
  // The payload of the next message from a rank of the group, which stays where it is; null if it
  // does not come, or is another one.
  const std::byte* Await(Engine* engine, GroupState* group, ChannelKind kind, int peer,
                         const WireHeader& expected, size_t payload_bytes) {
    InEdge* const edge = EdgeFrom(group, kind, peer);
    const Slot* const slot = edge == nullptr ? nullptr : Poll(engine, edge, peer);
    if (slot == nullptr || slot->kind != Slot::kLine) return nullptr;
    const ConstByteSpan message = edge->Line(*slot);
    if (message.data == nullptr || message.bytes != kHeaderBytes + payload_bytes ||
        std::memcmp(message.data, &expected, kHeaderBytes) != 0) {
      return nullptr;
    }
    edges_[count_++] = edge;
    return message.data + kHeaderBytes;
  }
  // All that came has been used.
  void GiveBack() {
    for (int i = 0; i < count_; ++i) edges_[i]->GiveBack(edges_[i]->Take(), /*piece=*/false);
  }

 private:
  InEdge* edges_[rules::kMostRanksOfRound];
  int count_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_LINE_ROUND_H_
