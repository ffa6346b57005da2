#include "patterns/engine/send_queue.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "patterns/trace/trace.h"
#include "transport/simulated_processor.h"

namespace brigade {

SendQueue::SendQueue(Endpoint* endpoint, StagingBuffers* buffers, std::vector<GroupState*>* failing)
    : endpoint_(endpoint),
      buffers_(buffers),
      processor_(endpoint->simulated_processor()),
      failing_(failing) {}

bool SendQueue::IsDeferred(const GroupState* group, ChannelKind kind, int peer) const {
  return std::any_of(deferred_.begin(), deferred_.end(), [&](const Send* other) {
    return other->group == group && other->channel.kind == kind && other->peer == peer;
  });
}

SendQueue::Send* SendQueue::TakeSend(GroupState* group, ChannelKind kind, int peer,
                                     ConstByteSpan segment, StagedBuffer* buffer) {
  Send* const send = sends_.Take();
  send->queue = this;
  send->group = group;
  send->channel = Channel{group->id, kind};
  send->peer = peer;
  send->segment = segment;
  send->buffer = buffer;
  ++group->sends_in_flight;
  ++in_flight_;
  return send;
}

SentNow SendQueue::SendNow(GroupState* group, ChannelKind kind, int peer, ConstByteSpan head,
                           const LayoutRange& body, OperationStatistics* statistics) {
  if (IsDeferred(group, kind, peer)) return SentNow::kNo;
  Send* const send =
      TakeSend(group, kind, peer, ConstByteSpan(nullptr, head.bytes + body.bytes), nullptr);
  size_t kept_bytes = 0;
  const SentNow sent = endpoint_->SendNow(send->channel, peer, head, body, send, &kept_bytes);
  if (sent != SentNow::kYes) {
    --group->sends_in_flight;
    --in_flight_;
    sends_.GiveBack(send);
    return sent;
  }
  ++statistics->messages_sent;
  statistics->bytes_sent += head.bytes + body.bytes;
  if (kept_bytes > 0) {
    statistics->CountCopy(kept_bytes);
    ++statistics->overflow_segments;
  }
  return SentNow::kYes;
}

Status SendQueue::Post(GroupState* group, ChannelKind kind, int peer, ConstByteSpan segment,
                       StagedBuffer* buffer) {
  Send* const send = TakeSend(group, kind, peer, segment, buffer);
  const TraceSpan span(TraceKind::kPostSend, segment.bytes, peer);
  ++buffer->pending;
  if (!IsDeferred(group, kind, peer)) {
    const Status status = TryPost(send);
    if (status.code() != StatusCode::kNoResource) {
      if (status.ok()) return status;
      send->status = Status();  // the return value has it
      OnSent(send);
      return status;
    }
  }
  deferred_.push_back(send);
  return Status();
}

Status SendQueue::TryPost(Send* send) {
  if (send->buffer->origin == StagedBuffer::Origin::kOverflow && !send->copy &&
      buffers_->drains_overflow()) {
    const ChunkRun run = buffers_->TryDrainRun();
    if (!run) return Status(StatusCode::kNoResource, "no staging memory");
    const TraceSpan span(TraceKind::kCopyFromOverflow, send->segment.bytes, send->peer);
    size_t bytes = send->segment.bytes;
    if (processor_ != nullptr &&
        !processor_->Copy(run.memory.data, send->segment.data, bytes, bytes)) {
      bytes = std::min(bytes, kHeaderBytes);  // all there is of it
    }
    std::memcpy(run.memory.data, send->segment.data, bytes);
    send->copy = run;
    send->segment.data = run.memory.data;
  }
  return endpoint_->PostSend(send->channel, send->peer, send->segment, send);
}

void SendQueue::OnSent(Completion* completion) {
  Send* send = static_cast<Send*>(completion);
  SendQueue* queue = send->queue;
  GroupState* group = send->group;
  Trace::Mark(TraceKind::kSent, send->segment.bytes, send->peer);
  if (!send->status.ok() && group->failure.ok()) {
    group->failure = send->status.WithContext("a send to rank " + std::to_string(send->peer));
    group->cause = {group->rank, send->status.code(), {}, 0, group->failure.message()};
    queue->failing_->push_back(group);
    if (queue->failure_.ok()) queue->failure_ = group->failure;
  }
  // A rank that is gone may have forwarded where the segment lies: others may read it at any time.
  if (send->status.code() == StatusCode::kPeerLost && send->buffer != nullptr &&
      group->capabilities->lands_in_peer_memory) {
    send->buffer->read_by_others = true;
  }
  send->status = Status();
  if (send->copy) queue->buffers_->ReturnDrainRun(std::exchange(send->copy, ChunkRun()));
  --group->sends_in_flight;
  --queue->in_flight_;
  if (group->is_given_up) --queue->given_up_;
  StagedBuffer* buffer = std::exchange(send->buffer, nullptr);
  queue->sends_.GiveBack(send);
  if (buffer == nullptr) return;  // it went from user memory
  if (--buffer->pending == 0 && buffer->freed) queue->buffers_->Reclaim(buffer);
}

int SendQueue::SlowReceiver(const GroupState* group, ChannelKind kind) const {
  int peer = -1;
  sends_.ForEach([&](const Send* send) {
    const bool under_way = send->buffer != nullptr;
    if (under_way && send->group == group && send->channel.kind == kind) peer = send->peer;
  });
  return peer;
}

int SendQueue::SlowReceiver() const {
  int peer = -1;
  sends_.ForEach([&](const Send* send) {
    if (send->buffer != nullptr) peer = send->peer;
  });
  return peer;
}

bool SendQueue::PostDeferred() {
  bool any = false;
  std::vector<const Send*> refused;
  for (auto it = deferred_.begin(); it != deferred_.end();) {
    Send* send = *it;
    const bool behind_another = std::any_of(refused.begin(), refused.end(), [&](const Send* other) {
      return other->group == send->group && other->channel.kind == send->channel.kind &&
             other->peer == send->peer;
    });
    if (behind_another) {
      ++it;
      continue;
    }
    const Status status = TryPost(send);
    if (status.code() == StatusCode::kNoResource) {
      refused.push_back(send);
      ++it;
      continue;
    }
    any = true;
    it = deferred_.erase(it);
    if (!status.ok()) {
      send->status = status;
      OnSent(send);
    }
  }
  return any;
}

void SendQueue::GiveUp(GroupState* group) {
  group->is_given_up = true;
  given_up_ += group->sends_in_flight;
  const auto kept = std::stable_partition(deferred_.begin(), deferred_.end(),
                                          [&](const Send* s) { return s->group != group; });
  const std::vector<Send*> dropped(kept, deferred_.end());
  deferred_.erase(kept, deferred_.end());
  for (Send* send : dropped) {
    send->status = group->failure;
    OnSent(send);
  }
}

bool SendQueue::HasDeferredOf(const GroupState& group) const {
  return std::any_of(deferred_.begin(), deferred_.end(),
                     [&](const Send* send) { return send->group == &group; });
}

}  // namespace brigade
