#include "patterns/eager/port_base.h"

#include <algorithm>
#include <cstring>

namespace brigade {

PortBase::PortBase(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                   const PatternCall& call)
    : engine_(engine),
      group_(group),
      entry_(entry),
      call_(call),
      pair_(IsPair(entry.pattern)),
      kind_(pair_ ? ChannelKind::kPointToPoint : call.scope),
      scope_(group->scope(kind_)),
      config_(group->EdgeConfigOf(kind_, call.root)),
      mover_(engine->processor()),
      wait_{engine, group, &entry, kind_, /*sequence=*/0, call.timeout_seconds} {}

// --- memory ---

bool PortBase::TakeFirst() {
  // It may become a receive buffer, which any first segment fits.
  first_ = engine_->buffers()->TrySurplus(config_.capabilities->needs_receive_buffer
                                              ? config_.settings.most_chunks
                                              : ChunksFor(config_.settings, WireBytes()));
  return first_ != nullptr;
}

Status PortBase::Acquire(size_t payload_bytes, bool for_receive, bool must_wait,
                         StagedBuffer** buffer) {
  *buffer = first_ != nullptr
                ? std::exchange(first_, nullptr)
                : engine_->buffers()->TrySurplus(ChunksFor(config_.settings, payload_bytes));
  if (*buffer == nullptr) {
    if (!must_wait) return Status();
    BRIGADE_RETURN_IF_ERROR(AcquireSlowly(payload_bytes, for_receive, buffer));
  }
  held_bytes_ += (*buffer)->run.memory.bytes;
  mover_.statistics.peak_staging_bytes =
      std::max(mover_.statistics.peak_staging_bytes, held_bytes_);
  return Status();
}

Status PortBase::AcquireSlowly(size_t payload_bytes, bool for_receive, StagedBuffer** buffer) {
  const bool may_overflow =
      entry_.locally_blocking && !(for_receive && engine_->buffers()->drains_overflow());
  Status status;
  const Status waited = wait_.Until([&] {
    if (*buffer != nullptr) return true;
    *buffer = engine_->buffers()->TrySurplus(ChunksFor(config_.settings, payload_bytes));
    if (*buffer == nullptr && may_overflow) {
      *buffer = engine_->buffers()->TryOverflow(payload_bytes, &mover_.statistics);
      if (*buffer == nullptr && !engine_->buffers()->OutOfPatience()) return false;
    }
    if (*buffer == nullptr) {
      *buffer = engine_->buffers()->TryCore(0, config_.settings.most_chunks, &outstanding_);
    }
    if (*buffer != nullptr) return true;
    status = engine_->buffers()->shortage();
    if (status.ok() && entry_.locally_blocking)
      status = engine_->buffers()->CheckWait(&memory_wait_);
    return !status.ok();
  });
  memory_wait_.Reset();
  return waited.ok() ? status : waited;
}

Status PortBase::OpenInStaging(Current* current) {
  BRIGADE_RETURN_IF_ERROR(
      Acquire(WireBytes(), /*for_receive=*/false, /*must_wait=*/true, &current->buffer));
  current->payload = current->buffer->memory.data + kHeaderRoom;
  if (segment_ == 0) std::memcpy(current->payload - kHeaderBytes, &header_, sizeof(header_));
  return Status();
}

void PortBase::Release(StagedBuffer** buffer) {
  held_bytes_ -= (*buffer)->run.memory.bytes;  // none of a lease's are ours
  engine_->buffers()->Release(std::exchange(*buffer, nullptr));
}

// --- messages ---

Status PortBase::PostSend(int peer, const Current& current) {
  const std::byte* const header = current.payload - HeaderBytes();
  const size_t payload_bytes = WireBytes();
  const auto post = [&](const std::byte* data, size_t bytes) {
    return engine_->sends()->Post(group_, kind_, peer, {data, bytes}, current.buffer);
  };
  if (!header_ahead_) return post(header, HeaderBytes() + payload_bytes);
  ++mover_.statistics.messages_sent;  // one more
  BRIGADE_RETURN_IF_ERROR(post(header, kHeaderBytes));
  return post(current.payload, payload_bytes);
}

bool PortBase::SendNow(const Matrix& matrix, int peer) {
  const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header_), sizeof(header_));
  const LayoutRange body{&matrix.layout, matrix.data, 0, range_.bytes};
  return endpoint()->SendsInPlace(channel(), peer, body) &&
         engine_->sends()->SendNow(group_, kind_, peer, head, body, &mover_.statistics) ==
             SentNow::kYes;
}

Status PortBase::AwaitReceive(ReceiveSlot* slot, Current* current) {
  if (!slot->arrived) BRIGADE_RETURN_IF_ERROR(wait_.UntilMessage([&] { return slot->arrived; }));
  BRIGADE_RETURN_IF_ERROR(slot->status);
  // From here on current->buffer holds the bytes. A chunk that holds none of them is given back.
  slot->arrived = false;
  current->buffer = std::exchange(slot->buffer, nullptr);
  if (slot->lease.data == nullptr) return Status();  // in user memory
  if (current->buffer != nullptr) held_bytes_ -= current->buffer->run.memory.bytes;
  current->buffer = engine_->buffers()->TakeLease(current->buffer, slot->lease);
  held_bytes_ += current->buffer->run.memory.bytes;
  if (!entry_.locally_blocking) current->buffer->CountLease(&outstanding_);
  return Status();
}

// --- the end ---

Status PortBase::AwaitOutstanding() {
  Status status;
  const Status waited = wait_.Until([&] {
    if (outstanding_ == 0) return true;
    if (entry_.locally_blocking) status = engine_->buffers()->CheckWait(&memory_wait_);
    return !status.ok();
  });
  return waited.ok() ? status : waited;
}

Status PortBase::Break(const Status& status) {
  const Status failure = wait_.Break(status);
  engine_->buffers()->StopCounting(&outstanding_);
  return failure;
}

}  // namespace brigade
