#include "patterns/direct/pair_line.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "membuf/pack.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/piece_plan.h"
#include "patterns/short_path/call_wait.h"
#include "patterns/short_path/group_edges.h"
#include "patterns/trace/trace.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

constexpr ChannelKind kKind = ChannelKind::kPointToPoint;

bool IsAsUsual(const Engine& engine, const GroupState& group, const PatternCall& call) {
  const auto peer = static_cast<size_t>(call.root);  // a negative number becomes a huge one
  return peer < group.config_to.size() && group.config_to[peer]->capabilities->line_bytes > 0 &&
         call.matrix.data != nullptr && call.locations == nullptr && group.failure.ok() &&
         engine.IsIdle() && engine.processor() == nullptr && Trace::current() == nullptr;
}

WireHeader HeaderOf(uint64_t sequence, size_t total_bytes) {
  WireHeader header;
  header.pattern = static_cast<uint8_t>(Pattern::kSend);
  header.sequence = static_cast<uint32_t>(sequence);
  header.total_bytes = total_bytes;
  return header;
}

void Count(bool copied, size_t bytes, OperationStatistics* did) {
  if (did == nullptr) return;
  *did = OperationStatistics();
  did->pieces = 1;
  did->copies = copied ? 1 : 0;
  did->bytes_copied = copied ? bytes : 0;
}

// Null: it goes some other way, which also finds out whether the edge has use for a wide ring.
Slot* SlotFor(const EdgeConfig& config, size_t bytes, OutEdge* edge) {
  if (kHeaderBytes + bytes <= Slot::kLineBytes) return edge->Next();
  if (!edge->is_wide() || kHeaderBytes + bytes > WideSlot::kLineBytes) return nullptr;
  const PiecePlan plan = PlanMessage(config.settings, bytes);
  return plan.IsOnePiece() && !plan.header_ahead ? edge->NextForLongLine(kHeaderBytes + bytes)
                                                 : nullptr;
}

PairLine Send(Engine* engine, GroupState* group, const PatternCall& call,
              OperationStatistics* did) {
  const auto peer = static_cast<size_t>(call.root);
  uint64_t& sequence = group->send_sequence[peer];
  OutEdge* const edge =
      IsToLookAround(sequence) ? nullptr : EdgeTo(engine, group, kKind, call.root);
  if (edge == nullptr) return PairLine::kUnusual;
  const size_t bytes = call.matrix.layout.bytes();
  const WireHeader header = HeaderOf(sequence, bytes);
  const bool copied =
      !edge->MayLand(call.matrix.layout) ||
      !edge->SendToLanding({reinterpret_cast<const std::byte*>(&header), kHeaderBytes},
                           call.matrix.layout, call.matrix.data);
  if (copied) {
    Slot* const slot = SlotFor(*group->config_to[peer], bytes, edge);
    if (slot == nullptr) return PairLine::kUnusual;
    slot->kind = Slot::kLine;
    slot->bytes = static_cast<uint16_t>(kHeaderBytes + bytes);
    std::memcpy(PayloadOf(slot), &header, kHeaderBytes);
    PushIn(PayloadOf(slot) + kHeaderBytes, call.matrix.layout, call.matrix.data, 0, bytes);
    edge->Publish(slot);
  }
  ++sequence;
  Count(copied, bytes, did);
  if (did != nullptr) {
    did->messages_sent = 1;
    did->bytes_sent = kHeaderBytes + bytes;
  }
  return PairLine::kDone;
}

// Null: nothing came.
const Slot* AwaitMessage(Engine* engine, GroupState* group, const PatternCall& call,
                         uint64_t sequence, InEdge* edge) {
  if (const Slot* const slot = edge->Peek()) return slot;
  const StridedLayout& layout = call.matrix.layout;
  if (!edge->LendLanding(layout, call.matrix.data)) return PollLonger(engine, edge, call.root);
  const Slot* slot = nullptr;
  const auto is_here = [&] { return (slot = edge->Peek()) != nullptr; };
  if (PollUntil(engine, call.root, is_here)) return slot;
  // Whom a sender copies to cannot go away, not even when the time of the call is over: a copy that
  // has begun cannot be kept from this rank's memory. The sender waits for nobody while it copies.
  CallWait wait{engine,   group, &EntryOf(call.pattern), kKind, sequence, call.timeout_seconds,
                call.root};
  wait.Await([&] { return edge->TakeLandingBack() || is_here() || edge->lost(); });
  return edge->Peek();  // who is lost may have sent it before
}

PairLine Receive(Engine* engine, GroupState* group, const PatternCall& call,
                 OperationStatistics* did) {
  uint64_t& sequence = group->receive_sequence[static_cast<size_t>(call.root)];
  InEdge* const edge = IsToLookAround(sequence) ? nullptr : EdgeFrom(group, kKind, call.root);
  if (edge == nullptr) return PairLine::kUnusual;
  const Slot* const slot = AwaitMessage(engine, group, call, sequence, edge);
  if (slot == nullptr) return PairLine::kNothingCame;
  const bool landed = slot->kind == Slot::kLanded;
  if (!landed && slot->kind != Slot::kLine) return PairLine::kUnusual;
  const ConstByteSpan message = edge->Line(*slot);
  if (message.data == nullptr || message.bytes < kHeaderBytes) return PairLine::kUnusual;
  WireHeader theirs;
  std::memcpy(&theirs, message.data, kHeaderBytes);
  const WireHeader expected = HeaderOf(sequence, theirs.total_bytes);
  const size_t bytes = theirs.total_bytes;
  if (bytes > call.matrix.layout.bytes() || message.bytes != kHeaderBytes + (landed ? 0 : bytes) ||
      std::memcmp(&theirs, &expected, kHeaderBytes) != 0) {
    return PairLine::kUnusual;
  }
  if (!landed) {
    CopyOut(call.matrix.layout, call.matrix.data, 0, bytes, message.data + kHeaderBytes);
  }
  edge->GiveBack(edge->Take(), /*piece=*/false);
  ++sequence;
  Count(!landed, bytes, did);
  return PairLine::kDone;
}

}  // namespace

PairLine RunPairLine(Engine* engine, GroupState* group, const PatternCall& call,
                     OperationStatistics* did) {
  if (!IsPair(call.pattern) || !IsAsUsual(*engine, *group, call)) return PairLine::kUnusual;
  return call.pattern == Pattern::kSend ? Send(engine, group, call, did)
                                        : Receive(engine, group, call, did);
}

}  // namespace brigade
