#include "patterns/engine/edge_path.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "membuf/check.h"
#include "patterns/engine/trace.h"
#include "patterns/schedule/message_cut.h"
#include "transport/edge/edge_access.h"

namespace brigade {
namespace {

// Polls of an edge, paused as the transport likes, before a message that does not come is waited
// for with a posted receive, which also hears of peers that are gone. Not so many that the
// transport puts the rank to sleep: what others wait for moves only where everything is polled.
const Slot* Poll(Endpoint* endpoint, InEdge* edge, int peer) {
  if (const Slot* slot = edge->Peek()) return slot;
  const TraceSpan span(TraceKind::kWait, 0, peer);
  const uint64_t polls = endpoint->PollsAwake();
  for (uint64_t i = 0; i < polls; ++i) {
    if (const Slot* slot = edge->Peek()) return slot;
    endpoint->Pause(i);
  }
  return nullptr;
}

bool IsForwarded(const Lane& lane, int stream) {
  return std::any_of(lane.work.begin(), lane.work.end(), [&](const Step& step) {
    return step.opcode == Opcode::kSend && step.left.index == stream;
  });
}

}  // namespace

EdgePath::EdgePath(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                   const PatternCall& call)
    : engine_(engine),
      group_(group),
      entry_(entry),
      call_(call),
      pair_(IsPair(entry.pattern)),
      channel_(pair_ ? ChannelKind::kPointToPoint : call.scope),
      scope_(group->scope(channel_)),
      reach_(group->ReachOf(channel_, call.root)),
      mover_(engine->processor_) {}

bool EdgePath::Fits(const Schedule& schedule) {
  if (reach_.capabilities->line_bytes == 0 || schedule.shares.count > 0 || !schedule.runs.empty() ||
      !engine_->active_.empty() || !engine_->deferred_.empty()) {
    return false;
  }
  mover_.Reset(entry_, &call_);
  range_.bytes = BytesOf(-1);
  for (int q = 0; entry_.multi && q < scope_.size; ++q) {
    range_.bytes = std::max(range_.bytes, BytesOf(q));
  }
  if (entry_.pattern == Pattern::kReceive) {
    // The sender's length counts, and shows in what it wrote.
    InEdge* const edge = EdgeFrom(call_.root);
    const Slot* const slot =
        edge == nullptr ? nullptr : Poll(engine_->endpoint(), edge, call_.root);
    if (slot == nullptr) return false;
    const ConstByteSpan message = MessageIn(*slot);
    WireHeader theirs;
    if (message.data == nullptr || message.bytes < kHeaderBytes) return false;
    std::memcpy(&theirs, message.data, sizeof(theirs));
    return message.bytes == kHeaderBytes + theirs.total_bytes;
  }
  const size_t wire_bytes = mover_.WireBytes(range_.bytes);
  lines_ = wire_bytes <= kLinePayload;
  if (lines_) return true;
  const CutRule rule = mover_.Rule(entry_, reach_.settings, scope_.size);
  if (!PlanLongest(rule, schedule.shares, range_.bytes).IsOnePiece()) return false;
  // One buffer is all that a locally blocking call needs, and all that it must not wait for.
  first_ = engine_->TrySurplus(ChunksFor(reach_.settings, wire_bytes));
  return first_ != nullptr;
}

Status EdgePath::Run(const Schedule& schedule, uint64_t sequence) {
  if (entry_.combines) mover_.SetPieceBytes(range_.bytes);
  mover_.statistics.pieces = 1;
  SetHeader(entry_, call_, sequence, range_.bytes, &header_);
  Status status;
  for (const Lane& lane : schedule.lanes) {
    // One piece: what leads comes before what does not.
    for (int lead = schedule.max_lead; lead >= 0 && status.ok(); --lead) {
      status = RunLane(lane, lead);
    }
    if (!status.ok()) break;
  }
  if (!status.ok()) {
    status = status.WithContext(Describe());
    for (Current& current : currents_) Free(&current);
    engine_->BreakGroup(group_, status);
  }
  if (first_ != nullptr) {
    first_->freed = true;
    engine_->Recycle(first_);
  }
  // Chunks of the core belong to the next operation, leases to ranks that wait for them.
  if (!status.ok()) engine_->Forgive(&owed_);
  if (owed_ > 0) {
    engine_->WaitUntil([&] { return owed_ == 0; }, [&] { return Describe(); });
  }
  return status;
}

size_t EdgePath::BytesOf(int portion) const {
  return (portion < 0 ? call_.matrix : call_.portions[portion]).layout.bytes();
}

void EdgePath::TurnTo(int portion) {
  range_.bytes = BytesOf(portion);
  header_.portion = portion;
  header_.total_bytes = range_.bytes;
}

Status EdgePath::RunLane(const Lane& lane, int lead) {
  for (const Step& step : lane.work) {
    if (step.lead != lead) continue;
    if (entry_.multi) TurnTo(step.portion);
    switch (step.opcode) {
      case Opcode::kReceive:
      case Opcode::kOpen:
        BRIGADE_CHECK(false);
        break;
      case Opcode::kAwait:
        BRIGADE_RETURN_IF_ERROR(Await(lane, step));
        break;
      case Opcode::kCopy:
      case Opcode::kCombine:
        BRIGADE_RETURN_IF_ERROR(Fill(step));
        break;
      case Opcode::kSend:
        BRIGADE_RETURN_IF_ERROR(Send(step));
        break;
      case Opcode::kFree:
        Free(&currents_[step.left.index]);
        break;
    }
  }
  return Status();
}

InEdge* EdgePath::EdgeFrom(int peer) const {
  InEdge*& edge = group_->LineFrom(channel_, peer);
  if (edge == nullptr && group_->edges != nullptr)
    edge = group_->edges->EdgeFrom({group_->id, channel_}, peer);
  return edge;
}

ConstByteSpan EdgePath::MessageIn(const Slot& slot) const {
  if (slot.kind == Slot::kLine) {
    return slot.bytes <= Slot::kLineBytes ? ConstByteSpan(slot.payload, slot.bytes)
                                          : ConstByteSpan();
  }
  return group_->edges->PieceIn(group_->id, slot);
}

// --- sending ---

Status EdgePath::Send(const Step& step) {
  const int peer = scope_.GroupRank(step.peer);
  const Current& current = currents_[step.left.index];
  const size_t payload_bytes = mover_.WireBytes(range_.bytes);
  ++mover_.statistics.messages_sent;
  mover_.statistics.bytes_sent += kHeaderBytes + payload_bytes;
  if (lines_) return SendLine(peer, current.payload, payload_bytes);
  return engine_->PostSend(group_, channel_, peer,
                           {current.payload - kHeaderBytes, kHeaderBytes + payload_bytes},
                           current.buffer);
}

Status EdgePath::SendLine(int peer, const std::byte* payload, size_t payload_bytes) {
  const TraceSpan span(TraceKind::kPostSend, kHeaderBytes + payload_bytes, peer);
  const auto write = [&](std::byte* line) {
    std::memcpy(line, &header_, kHeaderBytes);
    if (payload_bytes > 0) std::memcpy(line + kHeaderBytes, payload, payload_bytes);
  };
  OutEdge*& edge = group_->LineTo(channel_, peer);
  if (edge == nullptr && group_->edges != nullptr)
    edge = group_->edges->EdgeTo({group_->id, channel_}, peer);
  Slot* const slot = edge == nullptr ? nullptr : edge->Next();
  if (slot != nullptr) {
    slot->kind = Slot::kLine;
    slot->bytes = static_cast<uint16_t>(kHeaderBytes + payload_bytes);
    write(slot->payload);
    edge->Publish(slot);
    return Status();
  }
  // No memory for more messages at the moment, or the peer is no more, or something stands between.
  std::byte line[Slot::kLineBytes];
  write(line);
  struct Send : Completion {
    Send() : Completion([](Completion* c) { static_cast<Send*>(c)->over = true; }) {}
    bool over = false;
  } sent;
  Status status;
  engine_->WaitUntil(
      [&] {
        status = engine_->endpoint()->PostSend({group_->id, channel_}, peer,
                                               {line, kHeaderBytes + payload_bytes}, &sent);
        return status.code() != StatusCode::kNoResource;
      },
      [&] { return Describe(); });
  BRIGADE_RETURN_IF_ERROR(status);
  // At once, without waiting for the receiver: it is a line.
  engine_->WaitUntil([&] { return sent.over; }, [&] { return Describe(); });
  return sent.status;
}

// --- receiving ---

Status EdgePath::Await(const Lane& lane, const Step& step) {
  waits_for_ = scope_.GroupRank(step.peer);
  Current& current = currents_[step.left.index];
  InEdge* const edge = EdgeFrom(waits_for_);
  const Slot* const slot = edge == nullptr ? nullptr : Poll(engine_->endpoint(), edge, waits_for_);
  ConstByteSpan message;
  // A piece that is forwarded is kept until that is done, which takes a lease.
  if (slot != nullptr && (slot->kind == Slot::kLine || !IsForwarded(lane, step.left.index))) {
    message = MessageIn(*slot);
  }
  if (message.data != nullptr) {
    current.piece = slot->kind == Slot::kPiece;
    current.edge = edge;
    current.receipt = edge->Take();
  } else {
    Lease lease;
    BRIGADE_RETURN_IF_ERROR(AwaitLease(&current, &lease));
    message = {lease.data, lease.bytes};
  }
  Trace::Mark(TraceKind::kReceived, message.bytes, waits_for_);
  WireHeader theirs;
  BRIGADE_RETURN_IF_ERROR(ReadHeader(header_, {message.data, message.bytes, 0}, &theirs)
                              .WithContext("from rank " + std::to_string(waits_for_)));
  range_.bytes = theirs.total_bytes;  // a receive may get less than it asked for
  if (message.bytes != kHeaderBytes + mover_.WireBytes(range_.bytes)) {
    return Status(StatusCode::kMismatch, "a message of " + std::to_string(message.bytes) +
                                             " bytes came where " + std::to_string(range_.bytes) +
                                             " were announced");
  }
  current.payload = message.data + kHeaderBytes;
  return Status();
}

Status EdgePath::AwaitLease(Current* current, Lease* lease) {
  struct Receive : Completion {
    Receive() : Completion([](Completion* c) { static_cast<Receive*>(c)->arrived = true; }) {}
    bool arrived = false;
  } receive;
  // Of a message that is longer than it should be, the header tells what it is.
  const size_t most_bytes = kHeaderBytes + MostPayload(reach_.settings);
  Status status;
  const auto post = [&] {
    status = engine_->endpoint()->PostReceive({group_->id, channel_}, waits_for_,
                                              {nullptr, most_bytes}, &receive);
    return status.code() != StatusCode::kNoResource;
  };
  if (!post()) engine_->WaitUntil(post, [&] { return Describe(); });
  BRIGADE_RETURN_IF_ERROR(status);
  if (!receive.arrived) {
    engine_->WaitUntil([&] { return receive.arrived; }, [&] { return Describe(); },
                       [&] { return waits_for_; });
  }
  BRIGADE_RETURN_IF_ERROR(receive.status);
  current->buffer = engine_->TakeLease(nullptr, receive.lease);
  if (!entry_.locally_blocking) current->buffer->OweLease(&owed_);
  *lease = receive.lease;
  return Status();
}

// --- the rest ---

Status EdgePath::Fill(const Step& step) {
  const auto payload_at = [&](const Place& place) -> const std::byte* {
    return place.in_stream() ? currents_[place.index].payload : nullptr;
  };
  const std::byte* const left = payload_at(step.left);
  const std::byte* const right = payload_at(step.right);
  std::byte* dst = nullptr;
  if (step.dst.in_stream()) {  // what was received is only read
    Current& current = currents_[step.dst.index];
    if (lines_) {
      dst = current.line;
    } else {
      if (step.dst.kind == Place::kNew) {
        current.buffer = std::exchange(first_, nullptr);
        if (current.buffer == nullptr) {
          engine_->WaitUntil(
              [&] {
                current.buffer =
                    engine_->TrySurplus(ChunksFor(reach_.settings, mover_.WireBytes(range_.bytes)));
                if (current.buffer == nullptr)
                  current.buffer = engine_->TryCore(0, reach_.settings.most_chunks, &owed_);
                return current.buffer != nullptr;
              },
              [&] { return Describe(); });
        }
        held_bytes_ += current.buffer->memory.bytes;
        mover_.statistics.peak_staging_bytes =
            std::max(mover_.statistics.peak_staging_bytes, held_bytes_);
      }
      dst = current.buffer->memory.data + kHeaderRoom;
      if (step.dst.kind == Place::kNew) std::memcpy(dst - kHeaderBytes, &header_, kHeaderBytes);
    }
    current.payload = dst;
  }
  if (step.opcode == Opcode::kCombine) {
    mover_.Combine(step.dst, dst, step.left, left, step.right, right, range_);
  } else if (dst != nullptr) {
    mover_.CopyIn(dst, step.left, range_);
  } else {
    mover_.CopyOut(step.dst, range_, left);
  }
  return Status();
}

void EdgePath::Free(Current* current) {
  if (current->edge != nullptr) {
    std::exchange(current->edge, nullptr)->GiveBack(current->receipt, current->piece);
  } else if (current->buffer != nullptr) {
    StagedBuffer* const buffer = std::exchange(current->buffer, nullptr);
    held_bytes_ -= buffer->memory.bytes;  // none of a lease's are ours
    buffer->freed = true;
    if (buffer->pending == 0) engine_->Recycle(buffer);
  }
}

std::string EdgePath::Describe() const {
  std::string text = std::string(entry_.name) + " number " + std::to_string(header_.sequence) +
                     " of group rank " + std::to_string(group_->rank);
  if (waits_for_ >= 0) text += ", waiting for rank " + std::to_string(waits_for_);
  return text;
}

}  // namespace brigade
