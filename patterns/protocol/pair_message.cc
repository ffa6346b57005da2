// Messages from point to point between ranks that share memory: one copy and one store. The payload
// lies beside its flag, or the sender copies it into the buffer that the receiver has posted.
//
// A receiver takes whichever comes: only the sender chooses. All other messages, and failures, are
// left to the protocols behind.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "membuf/pack.h"
#include "patterns/eager/call_wait.h"
#include "patterns/eager/group_edges.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/segment_plan.h"
#include "patterns/trace/trace.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

constexpr ChannelKind kKind = ChannelKind::kPointToPoint;
static_assert(WideSlot::kHeadBytes == kHeaderBytes, "the payload begins in a line of its own");

WireHeader HeaderOf(const CallRun& run, size_t total_bytes) {
  WireHeader header = run.plan.header;
  header.sequence = static_cast<uint32_t>(*run.sequence);
  header.total_bytes = total_bytes;
  return header;
}

Outcome Done(CallRun* run, bool copied, size_t bytes, bool sent) {
  ++*run->sequence;
  if (run->did == nullptr) return Outcome::kDone;
  *run->did = OperationStatistics();
  run->did->segments = 1;
  run->did->copies = copied ? 1 : 0;
  run->did->bytes_copied = copied ? bytes : 0;
  run->did->messages_sent = sent ? 1 : 0;
  run->did->bytes_sent = sent ? kHeaderBytes + bytes : 0;
  return Outcome::kDone;
}

// --- the sender ---

OutEdge* EdgeToPeer(const CallRun& run) {
  return run.engine->IsIdle() ? EdgeTo(run.engine, run.group, kKind, run.call.root) : nullptr;
}

// Null: the message is too long, or the edge has no slot for it.
Slot* SlotFor(const EdgeConfig& config, size_t bytes, OutEdge* edge) {
  if (kHeaderBytes + bytes > Slot::kInlineBytes) {
    if (!edge->is_wide() || kHeaderBytes + bytes > WideSlot::kInlineBytes) return nullptr;
    const SegmentPlan segments = PlanMessage(config.settings, bytes);
    if (!segments.IsOneSegment() || segments.header_ahead) return nullptr;
  }
  return edge->NextForInline(kHeaderBytes + bytes);
}

Outcome SendInline(CallRun* run) {
  OutEdge* const edge = EdgeToPeer(*run);
  if (edge == nullptr) return Outcome::kNotNow;
  const Matrix& matrix = run->call.matrix;
  const size_t bytes = matrix.layout.bytes();
  Slot* const slot = SlotFor(*run->plan.config, bytes, edge);
  if (slot == nullptr) return Outcome::kNotNow;
  {
    const TraceSpan span(TraceKind::kCopyIn, bytes);
    const WireHeader header = HeaderOf(*run, bytes);
    const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header), kHeaderBytes);
    WriteInline(slot, head, kHeaderBytes + bytes, [&](std::byte* payload) {
      if (bytes > 0) PushIn(payload, matrix.layout, matrix.data, 0, bytes);
    });
    edge->Publish(slot);
  }
  Trace::Mark(TraceKind::kPostSend, kHeaderBytes + bytes, run->call.root);
  return Done(run, /*copied=*/true, bytes, /*sent=*/true);
}

Outcome SendToPostedBuffer(CallRun* run) {
  OutEdge* const edge = EdgeToPeer(*run);
  const Matrix& matrix = run->call.matrix;
  if (edge == nullptr || !edge->MayWritePostedBuffer(matrix.layout)) return Outcome::kNotNow;
  const size_t bytes = matrix.layout.bytes();
  const WireHeader header = HeaderOf(*run, bytes);
  const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header), kHeaderBytes);
  {
    TraceSpan span(TraceKind::kCopyIn, bytes);
    if (!edge->SendToPostedBuffer(head, matrix.layout, matrix.data)) {
      span.Cancel();
      return Outcome::kNotNow;
    }
  }
  Trace::Mark(TraceKind::kPostSend, kHeaderBytes + bytes, run->call.root);
  return Done(run, /*copied=*/true, bytes, /*sent=*/true);
}

// --- the receiver ---

InEdge* EdgeFromPeer(const CallRun& run) {
  return run.engine->IsIdle() ? EdgeFrom(run.group, kKind, run.call.root) : nullptr;
}

// Takes the message that has come. kNotNow: it lies elsewhere, or is another one than the next.
Outcome Take(CallRun* run, InEdge* edge, const Slot& slot) {
  const bool in_posted = slot.kind == Slot::kInPosted;
  if (!in_posted && slot.kind != Slot::kInline) return Outcome::kNotNow;
  const ConstByteSpan message = edge->Inline(slot);
  if (message.data == nullptr || message.bytes < kHeaderBytes) return Outcome::kNotNow;
  WireHeader theirs;
  std::memcpy(&theirs, message.data, kHeaderBytes);
  const size_t bytes = theirs.total_bytes;
  const WireHeader expected = HeaderOf(*run, bytes);
  const Matrix& matrix = run->call.matrix;
  if (bytes > matrix.layout.bytes() || message.bytes != kHeaderBytes + (in_posted ? 0 : bytes) ||
      std::memcmp(&theirs, &expected, kHeaderBytes) != 0) {
    return Outcome::kNotNow;
  }
  Trace::Mark(TraceKind::kReceived, kHeaderBytes + bytes, run->call.root);
  if (!in_posted && bytes > 0) {
    CopyOut(matrix.layout, matrix.data, 0, bytes, message.data + kHeaderBytes);
    Trace::Mark(TraceKind::kCopyOut, bytes, -1);
  }
  edge->GiveBack(edge->Take(), /*is_segment=*/false);
  return Done(run, /*copied=*/!in_posted, bytes, /*sent=*/false);
}

Outcome ReceiveIntoPostedBuffer(CallRun* run) {
  InEdge* const edge = EdgeFromPeer(*run);
  const Matrix& matrix = run->call.matrix;
  if (edge == nullptr || edge->Peek() != nullptr || !edge->PostBuffer(matrix.layout, matrix.data)) {
    return Outcome::kNotNow;
  }
  const Slot* slot = nullptr;
  const auto is_here = [&] { return (slot = edge->Peek()) != nullptr; };
  run->has_polled = true;
  if (!PollUntil(run->engine, run->call.root, is_here)) {
    // A sender that copies cannot be stopped, not even when the time of the call is over: a copy
    // that has begun cannot be kept from this rank's memory, whatever fails here. The sender waits
    // for no rank meanwhile.
    CallWait wait{run->engine,   run->group,     run->plan.entry,
                  kKind,         *run->sequence, run->call.timeout_seconds,
                  run->call.root};
    const auto is_over = [&] { return edge->WithdrawBuffer() || is_here() || edge->lost(); };
    while (!CatchOutOfMemory([&] { return wait.Await(is_over), Status(); }).ok()) continue;
    slot = edge->Peek();  // a rank that is lost may have sent it before
  }
  return slot == nullptr ? Outcome::kNotNow : Take(run, edge, *slot);
}

Outcome ReceiveInline(CallRun* run) {
  InEdge* const edge = EdgeFromPeer(*run);
  if (edge == nullptr) return Outcome::kNotNow;
  const Slot* const slot = run->has_polled ? edge->Peek() : Poll(run->engine, edge, run->call.root);
  run->has_polled = slot == nullptr;
  return slot == nullptr ? Outcome::kNotNow : Take(run, edge, *slot);
}

// --- the table ---

bool IsOfPair(const Plan& plan) { return IsPair(plan.entry->pattern); }

}  // namespace

const Protocol kPostedBuffer = {
    "posted buffer",
    "the receiver waits, and its buffer is mapped or written by the kernel",
    "sender 1, receiver 0",
    /*over_edges=*/true,
    [](const Plan& plan) { return IsOfPair(plan) && plan.signature.is_long(); },
    [](CallRun* run) {
      return run->call.pattern == Pattern::kSend ? SendToPostedBuffer(run)
                                                 : ReceiveIntoPostedBuffer(run);
    }};

const Protocol kInlineMessage = {"inline message",
                                 "the message fits a slot of the edge",
                                 "sender 1, receiver 1",
                                 /*over_edges=*/true,
                                 IsOfPair,
                                 [](CallRun* run) {
                                   return run->call.pattern == Pattern::kSend ? SendInline(run)
                                                                              : ReceiveInline(run);
                                 }};

}  // namespace brigade
