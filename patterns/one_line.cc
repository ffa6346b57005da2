#include "patterns/one_line.h"

#include <cstring>

#include "membuf/check.h"

namespace brigade {
namespace {

// Polls of a line, paused as the transport likes, before a message that does not come is waited for
// with a posted receive, which also hears of peers that are gone.
constexpr uint64_t kPolls = 400;

const Slot* Poll(Endpoint* endpoint, InEdge* edge) {
  for (uint64_t i = 0; i < kPolls; ++i) {
    if (const Slot* slot = edge->Peek()) return slot;
    endpoint->Pause(i);
  }
  return nullptr;
}

}  // namespace

OneLine::OneLine(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                 const PatternCall& call)
    : engine_(engine),
      group_(group),
      entry_(entry),
      call_(call),
      pair_(entry.pattern == Pattern::kSend || entry.pattern == Pattern::kReceive),
      channel_(pair_ ? ChannelKind::kPointToPoint : call.scope),
      scope_(group->scope(channel_)) {}

bool OneLine::Fits() {
  if (entry_.multi || !engine_->active_.empty() || !engine_->deferred_.empty()) return false;
  mover_.Reset(entry_, &call_);
  range_.bytes = call_.matrix.layout.bytes();
  if (entry_.pattern == Pattern::kReceive) {
    // The sender's length counts, and shows in what it wrote.
    InEdge* const edge = EdgeFrom(call_.root);
    const Slot* const slot = edge == nullptr ? nullptr : Poll(engine_->endpoint(), edge);
    return slot != nullptr && slot->kind == Slot::kLine;
  }
  return range_.bytes <= kMostPayload && mover_.WireBytes(range_.bytes) <= kMostPayload &&
         group_->line_bytes >= Slot::kLineBytes;
}

Status OneLine::Run(const Schedule& schedule, uint64_t sequence) {
  if (entry_.combines) mover_.SetPieceBytes(range_.bytes);
  mover_.statistics.pieces = 1;
  SetHeader(entry_, call_, sequence, range_.bytes, &header_);
  const Status status = RunSteps(schedule);
  if (status.ok()) return status;
  for (Current& current : currents_) Free(&current);
  const Status failure = status.WithContext(Describe());
  engine_->BreakGroup(group_, failure);
  return failure;
}

Status OneLine::RunSteps(const Schedule& schedule) {
  for (const Lane& lane : schedule.lanes) {
    for (const Step& step : lane.work) {
      switch (step.opcode) {
        case Opcode::kReceive:
          BRIGADE_CHECK(false);
          break;
        case Opcode::kAwait:
          BRIGADE_RETURN_IF_ERROR(Await(step));
          break;
        case Opcode::kCopy:
        case Opcode::kCombine:
          Fill(step);
          break;
        case Opcode::kSend:
          BRIGADE_RETURN_IF_ERROR(Send(step));
          break;
        case Opcode::kFree:
          Free(&currents_[step.left.index]);
          break;
      }
    }
  }
  return Status();
}

InEdge* OneLine::EdgeFrom(int peer) const {
  InEdge*& edge = group_->LineFrom(channel_, peer);
  if (edge == nullptr && group_->line_bytes > 0) {
    edge = engine_->endpoint()->LineFrom({group_->id, channel_}, peer);
  }
  return edge;
}

Status OneLine::Send(const Step& step) {
  const int peer = scope_.GroupRank(step.peer);
  const std::byte* const payload = currents_[step.left.index].payload;
  const size_t payload_bytes = mover_.WireBytes(range_.bytes);
  ++mover_.statistics.messages_sent;
  mover_.statistics.bytes_sent += kHeaderBytes + payload_bytes;
  const auto write = [&](std::byte* line) {
    std::memcpy(line, &header_, kHeaderBytes);
    if (payload_bytes > 0) std::memcpy(line + kHeaderBytes, payload, payload_bytes);
  };
  OutEdge*& edge = group_->LineTo(channel_, peer);
  if (edge == nullptr) edge = engine_->endpoint()->LineTo({group_->id, channel_}, peer);
  Slot* const slot = edge == nullptr ? nullptr : edge->Next();
  if (slot != nullptr) {
    slot->kind = Slot::kLine;
    slot->bytes = static_cast<uint16_t>(kHeaderBytes + payload_bytes);
    write(slot->payload);
    edge->Publish(slot);
    return Status();
  }
  // No memory for more messages at the moment, or the peer is no more. A posted line leaves at
  // once.
  std::byte line[Slot::kLineBytes];
  write(line);
  Completion sent([](Completion*) {});
  Status status;
  engine_->WaitUntil(
      [&] {
        status = engine_->endpoint()->PostSend({group_->id, channel_}, peer,
                                               {line, kHeaderBytes + payload_bytes}, &sent);
        return status.code() != StatusCode::kNoResource;
      },
      [&] { return Describe(); });
  return status;
}

Status OneLine::Await(const Step& step) {
  waits_for_ = scope_.GroupRank(step.peer);
  Current& current = currents_[step.left.index];
  InEdge* const edge = EdgeFrom(waits_for_);
  const Slot* const slot = edge == nullptr ? nullptr : Poll(engine_->endpoint(), edge);
  if (slot != nullptr && slot->kind == Slot::kLine && slot->bytes <= Slot::kLineBytes) {
    current.edge = edge;
    current.lease = {slot->payload, slot->bytes, 0};
    current.receipt = edge->Take();
  } else {
    BRIGADE_RETURN_IF_ERROR(AwaitPost(&current));
  }
  WireHeader theirs;
  BRIGADE_RETURN_IF_ERROR(ReadHeader(header_, current.lease, &theirs)
                              .WithContext("from rank " + std::to_string(waits_for_)));
  range_.bytes = theirs.total_bytes;  // a receive may get less than it asked for
  if (current.lease.bytes != kHeaderBytes + mover_.WireBytes(range_.bytes)) {
    return Status(StatusCode::kMismatch, "a line of " + std::to_string(current.lease.bytes) +
                                             " bytes came where " + std::to_string(range_.bytes) +
                                             " were announced");
  }
  current.payload = current.lease.data + kHeaderBytes;
  return Status();
}

// What takes long, or is not what it should be.
Status OneLine::AwaitPost(Current* current) {
  struct Receive : Completion {
    Receive() : Completion([](Completion* c) { static_cast<Receive*>(c)->arrived = true; }) {}
    bool arrived = false;
  } receive;
  // No line is longer; of anything else, the header tells what it is.
  const size_t most_bytes = kHeaderBytes + MostPayload(group_->settings);
  Status status;
  engine_->WaitUntil(
      [&] {
        status = engine_->endpoint()->PostReceive({group_->id, channel_}, waits_for_,
                                                  {nullptr, most_bytes}, &receive);
        return status.code() != StatusCode::kNoResource;
      },
      [&] { return Describe(); });
  BRIGADE_RETURN_IF_ERROR(status);
  engine_->WaitUntil([&] { return receive.arrived; }, [&] { return Describe(); });
  BRIGADE_RETURN_IF_ERROR(receive.status);
  current->lease = receive.lease;
  return Status();
}

void OneLine::Fill(const Step& step) {
  const auto payload_at = [&](const Place& place) -> const std::byte* {
    return place.in_stream() ? currents_[place.index].payload : nullptr;
  };
  const std::byte* const left = payload_at(step.left);
  const std::byte* const right = payload_at(step.right);
  std::byte* dst = nullptr;
  if (step.dst.in_stream()) {  // what was received is only read
    Current& current = currents_[step.dst.index];
    current.payload = dst = current.own;
  }
  if (step.opcode == Opcode::kCombine) {
    mover_.Combine(step.dst, dst, step.left, left, step.right, right, range_);
  } else if (dst != nullptr) {
    mover_.CopyIn(dst, step.left, range_);
  } else {
    mover_.CopyOut(step.dst, range_, left);
  }
}

void OneLine::Free(Current* current) {
  if (current->edge != nullptr) {
    current->edge->GiveBack(current->receipt, /*piece=*/false);
    current->edge = nullptr;
  } else if (current->lease.token != 0) {
    engine_->endpoint()->ReleaseLease(current->lease);
    current->lease.token = 0;
  }
}

std::string OneLine::Describe() const {
  std::string text = std::string(entry_.name) + " number " + std::to_string(header_.sequence) +
                     " of group rank " + std::to_string(group_->rank);
  if (waits_for_ >= 0) text += ", waiting for rank " + std::to_string(waits_for_);
  return text;
}

}  // namespace brigade
