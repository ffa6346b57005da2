#include "patterns/engine/one_piece.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "membuf/check.h"
#include "patterns/engine/trace.h"
#include "patterns/schedule/message_cut.h"

namespace brigade {

OnePiece::OnePiece(Engine* engine, GroupState* group, const CatalogueEntry& entry,
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

bool OnePiece::Fits(const Schedule& schedule) {
  if (entry_.multi || schedule.shares.count > 0 || !engine_->active_.empty() ||
      !engine_->deferred_.empty())
    return false;
  mover_.Reset(entry_, &call_);
  range_.bytes = call_.matrix.layout.bytes();
  const PieceSettings& settings = reach_.settings;
  const PiecePlan plan =
      PlanLongest(mover_.Rule(entry_, settings, scope_.size), schedule.shares, range_.bytes);
  if (!plan.IsOnePiece()) return false;
  header_ahead_ = plan.header_ahead;
  // One buffer is all that a locally blocking call needs, and all that it must not wait for.
  first_ = engine_->TrySurplus(settings.most_chunks);
  return first_ != nullptr;
}

Status OnePiece::Run(const Schedule& schedule, uint64_t sequence) {
  if (entry_.combines) mover_.SetPieceBytes(range_.bytes);
  mover_.statistics.pieces = 1;
  SetHeader(entry_, call_, sequence, range_.bytes, &header_);
  Status status;
  for (const Lane& lane : schedule.lanes) {
    status = RunLane(lane);
    if (!status.ok()) break;
  }
  if (!status.ok()) {
    status = status.WithContext(Describe());
    engine_->BreakGroup(group_, status);
    for (Receive& receive : receives_) {
      if (receive.arrived && receive.status.ok()) {  // and nobody took it up
        engine_->endpoint()->ReleaseLease(receive.lease);
      }
      if (receive.buffer == nullptr) continue;
      receive.buffer->freed = true;
      engine_->Recycle(std::exchange(receive.buffer, nullptr));
    }
    for (Current& current : currents_) Free(&current);
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

Status OnePiece::RunLane(const Lane& lane) {
  posted_ = awaited_ = 0;
  for (const Step& step : lane.work) {
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
      case Opcode::kSend: {
        BRIGADE_RETURN_IF_ERROR(Send(step));
        break;
      }
      case Opcode::kFree:
        Free(&currents_[step.left.index]);
        break;
    }
  }
  return Status();
}

Status OnePiece::Send(const Step& step) {
  const Current& current = currents_[step.left.index];
  if (current.sent) return Status();
  const auto post = [&](const std::byte* data, size_t bytes) {
    ++mover_.statistics.messages_sent;
    mover_.statistics.bytes_sent += bytes;
    return engine_->PostSend(group_, channel_, scope_.GroupRank(step.peer), {data, bytes},
                             current.buffer);
  };
  const size_t payload_bytes = mover_.WireBytes(range_.bytes);
  const std::byte* header = current.payload - kHeaderBytes;
  if (!header_ahead_) return post(header, kHeaderBytes + payload_bytes);
  BRIGADE_RETURN_IF_ERROR(post(header, kHeaderBytes));
  return post(current.payload, payload_bytes);
}

StagedBuffer* OnePiece::Acquire(size_t payload_bytes, bool may_wait) {
  const int chunks = ChunksFor(reach_.settings, payload_bytes);
  StagedBuffer* buffer =
      first_ != nullptr ? std::exchange(first_, nullptr) : engine_->TrySurplus(chunks);
  if (buffer == nullptr) {
    if (!may_wait) return nullptr;
    engine_->WaitUntil(
        [&] {
          return (buffer = engine_->TryCore(0, reach_.settings.most_chunks, &owed_)) != nullptr;
        },
        [&] { return Describe(); });
  }
  held_bytes_ += buffer->memory.bytes;
  mover_.statistics.peak_staging_bytes =
      std::max(mover_.statistics.peak_staging_bytes, held_bytes_);
  return buffer;
}

Status OnePiece::PostReceive(const Step& step, bool* posted) {
  Receive& receive = receives_[posted_ % kMostAhead];
  const Channel channel{group_->id, channel_};
  const int peer = scope_.GroupRank(step.peer);
  const size_t room = reach_.FirstRoom(pair_ ? std::min(range_.bytes, reach_.settings.eager_bytes)
                                             : mover_.WireBytes(range_.bytes));
  const bool landing = reach_.capabilities->needs_landing;
  const bool may_wait = posted_ < awaited_ + kAhead;
  *posted = false;
  receive.buffer = landing ? Acquire(MostPayload(reach_.settings), may_wait) : nullptr;
  if (landing && receive.buffer == nullptr) return Status();
  receive.arrived = false;
  receive.status = Status();
  const ByteSpan where{landing ? receive.buffer->memory.data + kHeaderRoom - kHeaderBytes : nullptr,
                       room + kHeaderBytes};
  Status status;
  const auto post = [&] {
    status = engine_->endpoint()->PostReceive(channel, peer, where, &receive);
    return status.code() != StatusCode::kNoResource;
  };
  if (!post()) {
    if (!may_wait) {
      if (landing) GiveBack(std::exchange(receive.buffer, nullptr));
      return Status();
    }
    engine_->WaitUntil(post, [&] { return Describe(); });
  }
  Trace::Mark(TraceKind::kPostReceive, room, peer);
  ++posted_;
  *posted = true;
  return status;
}

Status OnePiece::Await(const Lane& lane, const Step& step) {
  const bool they_wait = mover_.WireBytes(range_.bytes) > reach_.settings.eager_bytes;
  const size_t ahead = they_wait ? kMostAhead : kAhead;
  bool posted = true;
  while (posted && posted_ < lane.receives.size() && posted_ < awaited_ + ahead) {
    BRIGADE_RETURN_IF_ERROR(PostReceive(lane.receives[posted_], &posted));
  }
  Receive& receive = receives_[awaited_ % kMostAhead];
  waits_for_ = scope_.GroupRank(step.peer);
  if (!receive.arrived) {
    engine_->WaitUntil([&] { return receive.arrived; }, [&] { return Describe(); },
                       [&] { return waits_for_; });
  }
  ++awaited_;
  BRIGADE_RETURN_IF_ERROR(receive.status);
  Trace::Mark(TraceKind::kReceived, receive.lease.bytes, waits_for_);
  Current& current = currents_[step.left.index];
  current.buffer = std::exchange(receive.buffer, nullptr);
  Hold(&current, &receive);
  current.payload = const_cast<std::byte*>(receive.lease.data) + kHeaderBytes;  // only read

  WireHeader theirs;
  BRIGADE_RETURN_IF_ERROR(ReadHeader(header_, receive.lease, &theirs)
                              .WithContext("from rank " + std::to_string(waits_for_)));
  range_.bytes = theirs.total_bytes;  // a receive may get less than it asked for
  if (pair_ && range_.bytes > reach_.settings.eager_bytes) return AwaitData(&current);
  return Status();
}

// The data of a message whose header came ahead, in user memory if they can land there.
Status OnePiece::AwaitData(Current* current) {
  const Channel channel{group_->id, channel_};
  const LayoutRange in_place{&call_.matrix.layout, call_.matrix.data, 0, range_.bytes};
  const bool lands = engine_->endpoint()->LandsInPlace(channel, waits_for_, in_place);
  // The header has been read: the chunk is the data's, unless it is the sender's.
  if (!lands && current->buffer->origin == StagedBuffer::Origin::kLease) {
    Free(current);
    current->buffer = Acquire(range_.bytes);
  }
  Receive& receive = receives_[0];
  receive.arrived = false;
  receive.status = Status();
  Status status;
  const auto post = [&] {
    status = lands
                 ? engine_->endpoint()->PostReceiveInPlace(channel, waits_for_, in_place, &receive)
                 : engine_->endpoint()->PostReceive(
                       channel, waits_for_,
                       {current->buffer->memory.data + kHeaderRoom, range_.bytes}, &receive);
    return status.code() != StatusCode::kNoResource;
  };
  if (!post()) engine_->WaitUntil(post, [&] { return Describe(); });
  BRIGADE_RETURN_IF_ERROR(status);
  Trace::Mark(TraceKind::kPostReceive, range_.bytes, waits_for_);
  if (!receive.arrived) {
    engine_->WaitUntil([&] { return receive.arrived; }, [&] { return Describe(); },
                       [&] { return waits_for_; });
  }
  BRIGADE_RETURN_IF_ERROR(receive.status);
  Trace::Mark(TraceKind::kReceived, receive.lease.bytes, waits_for_);
  if (receive.lease.bytes != range_.bytes) {
    return Status(StatusCode::kMismatch, "a piece of " + std::to_string(receive.lease.bytes) +
                                             " bytes came where " + std::to_string(range_.bytes) +
                                             " were announced");
  }
  landed_ = lands;
  if (lands) return Status();
  Hold(current, &receive);
  current->payload = const_cast<std::byte*>(receive.lease.data);  // only read
  return Status();
}

Status OnePiece::Fill(const Step& step) {
  const std::byte* left = PayloadAt(step.left);
  const std::byte* right = PayloadAt(step.right);
  if (step.dst.kind == Place::kNew) {
    Current& current = currents_[step.dst.index];
    current.sent = SendNow(step);
    if (current.sent) return Status();
    current.buffer = Acquire(mover_.WireBytes(range_.bytes));
    current.payload = current.buffer->memory.data + kHeaderRoom;
    std::memcpy(current.payload - kHeaderBytes, &header_, sizeof(header_));
  }
  std::byte* dst = PayloadAt(step.dst);
  if (landed_) return Status();  // where it is wanted
  if (step.opcode == Opcode::kCombine) {
    mover_.Combine(step.dst, dst, step.left, left, step.right, right, range_);
  } else if (dst != nullptr) {
    mover_.CopyIn(dst, step.left, range_);
  } else {
    mover_.CopyOut(step.dst, range_, left);
  }
  return Status();
}

bool OnePiece::SendNow(const Step& copy) {
  if (copy.only_sent_to < 0 || header_ahead_ || call_.locations != nullptr) return false;
  const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header_), sizeof(header_));
  const LayoutRange body{&call_.matrix.layout, call_.matrix.data, 0, range_.bytes};
  const int peer = scope_.GroupRank(copy.only_sent_to);
  return engine_->endpoint()->SendsInPlace({group_->id, channel_}, peer, body) &&
         engine_->SendNow(group_, channel_, peer, head, body, &mover_.statistics) == SentNow::kYes;
}

// What holds the bytes from here on; a chunk that they did not come to is no longer held.
void OnePiece::Hold(Current* current, Receive* receive) {
  receive->arrived = false;  // the lease is the buffer's now
  if (current->buffer != nullptr) held_bytes_ -= current->buffer->memory.bytes;
  current->buffer = engine_->TakeLease(current->buffer, receive->lease);
  held_bytes_ += current->buffer->memory.bytes;
  if (!entry_.locally_blocking) current->buffer->OweLease(&owed_);
}

void OnePiece::Free(Current* current) {
  StagedBuffer* buffer = std::exchange(current->buffer, nullptr);
  if (buffer != nullptr) GiveBack(buffer);
}

void OnePiece::GiveBack(StagedBuffer* buffer) {
  held_bytes_ -= buffer->memory.bytes;  // none of a lease's are ours
  buffer->freed = true;
  if (buffer->pending == 0) engine_->Recycle(buffer);
}

std::string OnePiece::Describe() const {
  std::string text = std::string(entry_.name) + " number " + std::to_string(header_.sequence) +
                     " of group rank " + std::to_string(group_->rank);
  if (waits_for_ >= 0) text += ", waiting for rank " + std::to_string(waits_for_);
  return text;
}

}  // namespace brigade
