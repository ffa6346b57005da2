// Operations: the sends and receives of one endpoint, from their posts to their completions.

#ifndef BRIGADE_TRANSPORT_TCP_OPERATIONS_H_
#define BRIGADE_TRANSPORT_TCP_OPERATIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "membuf/check.h"
#include "membuf/overflow_budget.h"
#include "membuf/status.h"
#include "transport/core/completion_queue.h"
#include "transport/core/errors.h"
#include "transport/endpoint.h"
#include "transport/tcp/grants.h"
#include "transport/tcp/groups.h"
#include "transport/tcp/link/connection.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/links.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

class Operations {
 public:
  Operations(Links::Log log, Links* links, Grants* grants, Groups* groups,
             CompletionQueue* completions)
      : log_(std::move(log)),
        links_(links),
        grants_(grants),
        groups_(groups),
        completions_(completions) {}

  // As Endpoint's. Receive is PostReceive and PostReceiveInPlace.
  void SetOverflowBudget(const std::shared_ptr<OverflowBudget>& budget) { budget_ = budget; }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment, Completion* completion) {
    Group* const group = groups_->Find(channel.group);
    BRIGADE_RETURN_IF_ERROR(CheckLength(segment.bytes));
    Stream* const stream = groups_->StreamOf(group, channel.kind, peer);
    Link* const link = stream->link;
    if (link != nullptr) {
      links_->Connect(link);
      if (link->lost()) return link->LostAs(peer);
    }
    {
      const CompletionQueue::Hold hold(completions_);
      groups_->BeginSend(group);
      if (Completion* const kept = stream->out.KeepLast(budget_)) {
        kept->status = Status();
        completions_->Finish(kept, CompletionQueue::kSend);
      }
      stream->out.Push({segment, completion});
      if (link == nullptr) {
        MatchWithSelf(stream);
      } else {
        if (stream->out.all_granted()) OnDropped(stream);
        link->outbox()->AddSend(stream);
        if (!stream->queued_to_send) QueryWhetherClosed(stream);
        link->Pump();
      }
    }
    RunCompletions();
    return Status();
  }

  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) {
    Group* const group = groups_->Find(channel.group);
    Stream* const stream = groups_->StreamOf(group, channel.kind, peer);
    Link* const link = stream->link;
    if (link == nullptr || link->out() == nullptr || head.bytes + body.bytes > kMaxSegmentBytes) {
      return SentNow::kNo;
    }
    {
      const CompletionQueue::Hold hold(completions_);
      groups_->BeginSend(group);
      const SentNow sent = link->out()->SendNow(stream, head, body, completion, kept_bytes);
      if (sent != SentNow::kYes) {
        groups_->EndSend(group);
        return sent;
      }
      if (stream->out.all_granted()) OnDropped(stream);
    }
    RunCompletions();
    return SentNow::kYes;
  }

  Status Receive(const Channel& channel, int peer, const ReceiveStream::Receive& receive) {
    Stream* const stream = groups_->StreamOf(groups_->Find(channel.group), channel.kind, peer);
    BRIGADE_RETURN_IF_ERROR(CheckLength(receive.buffer.bytes));
    Link* const link = stream->link;
    if (link != nullptr && !stream->in.has_unexpected() && link->lost()) return link->LostAs(peer);
    {
      const CompletionQueue::Hold hold(completions_);
      ReceiveStream::Arrival arrival;
      if (stream->in.Post(receive, &arrival)) OnArrival(stream, arrival);
      if (link == nullptr) {
        MatchWithSelf(stream);
      } else {
        grants_->OnPosted(stream);
      }
    }
    RunCompletions();
    return Status();
  }

  // As ConnectionOwner's.
  void OnDropped(Stream* stream) {
    if (stream->close_query == CloseQuery::kReported) return;
    stream->close_query = CloseQuery::kReported;
    log_("tcp: " + stream->link->NameAs(stream->peer) +
         " has closed the group without receiving all that this rank sent");
  }

  void OnArrival(Stream* stream, const ReceiveStream::Arrival& arrival) {
    const ReceiveStream::Receive& receive = arrival.receive;
    Completion* const completion = receive.completion;
    const size_t room = receive.buffer.bytes;
    completion->status = Status();
    completion->lease =
        Lease{receive.in_place ? nullptr : receive.buffer.data, std::min(arrival.bytes, room), 0};
    if (arrival.bytes > room) {
      completion->status = SegmentTooLong("tcp", arrival.bytes, stream->peer, room);
    }
    completions_->Finish(completion, stream->group);
    if (stream->link != nullptr) grants_->OnArrival(stream);
  }

  void OnSent(Stream* stream, Completion* completion, const Status& status) {
    stream->out.End(completion);
    if (completion != nullptr) {
      const bool dropped = !status.ok() && stream->out.all_granted();
      if (dropped) OnDropped(stream);
      completion->status = status.ok() || dropped ? Status() : stream->link->LostAs(stream->peer);
      completions_->Finish(completion, CompletionQueue::kSend);
    }
    groups_->EndSend(*stream);
  }

  // The group is closed: cancels receives, and drops messages of this rank to itself.
  void CloseStream(Stream* stream) {
    if (stream->link != nullptr) {
      for (const auto& connection : stream->link->connections()) connection->Detach(stream);
    } else {
      while (stream->out.waiting()) OnSent(stream, stream->out.Take().completion, Status());
    }
    while (stream->in.posted()) stream->in.Cancel();
    grants_->CancelDeferred(stream);
  }

  // Fails pending operations on a stream whose peer is lost.
  void Fail(Stream* stream) {
    stream->in.Abandon();
    while (stream->in.posted()) {
      Completion* const completion = stream->in.Cancel().completion;
      completion->status = stream->link->LostAs(stream->peer);
      completion->lease = Lease();
      completions_->Finish(completion, stream->group);
    }
    while (stream->out.waiting()) {
      OnSent(stream, stream->out.Take().completion, stream->link->why_lost());
    }
  }

 private:
  static Status CheckLength(size_t bytes) {
    return bytes <= kMaxSegmentBytes ? Status()
                                     : SegmentBeyondLimit("tcp", bytes, kMaxSegmentBytes);
  }

  // A rank that closes a group notifies connected peers, and keeps no state for others: those send
  // a query when a message first waits for a receive.
  static void QueryWhetherClosed(Stream* stream) {
    if (stream->close_query != CloseQuery::kNone) return;
    stream->close_query = CloseQuery::kAsked;
    stream->link->outbox()->AddNotice(FrameKind::kWaiting, static_cast<uint8_t>(stream->kind),
                                      stream->wire_id);
  }

  void MatchWithSelf(Stream* stream) {
    while (stream->out.waiting() && stream->in.posted()) {
      const SendStream::Segment segment = stream->out.Take();
      ByteSpan where;
      ReceiveStream::Arrival arrival;
      BRIGADE_CHECK(stream->in.Begin(segment.bytes.bytes, &where));
      const size_t bytes = std::min(segment.bytes.bytes, where.bytes);
      if (bytes > 0) std::memcpy(where.data, segment.bytes.data, bytes);
      BRIGADE_CHECK(stream->in.End(&arrival));
      OnArrival(stream, arrival);
      OnSent(stream, segment.completion, Status());
    }
  }

  void RunCompletions() {
    if (!completions_->running()) completions_->Run();
  }

  const Links::Log log_;
  Links* const links_;
  Grants* const grants_;
  Groups* const groups_;
  CompletionQueue* const completions_;
  // Of short segments that wait. None before an engine gives one.
  std::shared_ptr<OverflowBudget> budget_ = std::make_shared<OverflowBudget>(0);
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_OPERATIONS_H_
