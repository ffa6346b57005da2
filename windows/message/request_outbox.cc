#include "windows/message/request_outbox.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "membuf/copy_bytes.h"
#include "transport/endpoint.h"
#include "windows/layout/layout_copy.h"
#include "windows/rules.h"

namespace brigade {
namespace {

// A token is its slot plus 1, which is less, and a multiple of this that grows with each use.
constexpr uint32_t kUse = uint32_t{1} << 20;

void AddOnce(std::vector<int>* ranks, int rank) {
  if (std::find(ranks->begin(), ranks->end(), rank) == ranks->end()) ranks->push_back(rank);
}

void Remove(std::vector<int>* ranks, int rank) {
  ranks->erase(std::remove(ranks->begin(), ranks->end(), rank), ranks->end());
}

// Moves data that fit into the frame.
void Inline(RmaRequest::Values* send, RmaFrame* message) {
  const int64_t bytes = send->bytes();
  if (bytes == 0 || bytes > kMostInlined) return;
  message->header.inlined = static_cast<uint8_t>(bytes);
  if (send->layout->is_contiguous()) {
    CopyBytes(message->data, send->data, static_cast<size_t>(bytes));
  } else {
    LayoutCursor from(send->layout, send->count);
    Gather(&from, send->data, bytes, message->data);
  }
  *send = RmaRequest::Values();
}

}  // namespace

RequestOutbox::RequestOutbox(MessageContext* context)
    : context_(context), peers_(context->group()->members()) {}

Status RequestOutbox::SendLayout(int target, const TypedLayout& layout, const LayoutName& name) {
  const std::string bytes = layout.ToBytes();
  RmaFrame message(RmaKind::kLayout);
  message.header.layout_index = name.index;
  message.header.layout_generation = name.generation;
  message.header.bytes = static_cast<int64_t>(bytes.size());
  std::vector<std::byte> serial(bytes.size());
  std::memcpy(serial.data(), bytes.data(), bytes.size());
  RmaRequest::Values send{serial.data(), &TypedLayout::One(Element::kByte), message.header.bytes};
  Inline(&send, &message);
  Outgoing* const request = New(target, message, send, {});
  request->serial = std::move(serial);
  ++layouts_sent_;
  return Add(request);
}

Status RequestOutbox::MakeHeader(const RmaRequest& request, RmaHeader* header) {
  header->kind = request.kind;
  header->op = static_cast<uint8_t>(request.op);
  header->element = request.element;
  header->end = request.end;
  header->offset = request.offset;
  header->bytes = request.target.bytes();
  if (request.target.layout->is_contiguous()) return Status();
  const LayoutName name = names_.NameOf(*request.target.layout);
  header->layout_index = name.index;
  header->layout_generation = name.generation;
  return names_.MustSend(name, request.rank)
             ? SendLayout(request.rank, *request.target.layout, name)
             : Status();
}

Status RequestOutbox::TryFrame(int target, const RmaFrame& message) {
  const Peer& peer = PeerOf(target);
  if (peer.waiting > 0) return {StatusCode::kNoResource, "requests before it wait"};
  const Urgency urgency = peer.held == nullptr ? Urgency::kCanWait : Urgency::kWithNext;
  BRIGADE_RETURN_IF_ERROR(context_->frames()->Try(target, message, urgency));
  return SendHeld(target);
}

Status RequestOutbox::AddFrame(int target, const RmaFrame& message) {
  const Status status = TryFrame(target, message);
  if (status.code() != StatusCode::kNoResource) return status;
  return Add(New(target, message, {}, {}));
}

Status RequestOutbox::Send(const RmaRequest& request) {
  RmaFrame message;
  BRIGADE_RETURN_IF_ERROR(MakeHeader(request, &message.header));
  RmaRequest::Values send = request.send;
  std::byte both[kMostInlined];
  if (request.kind == RmaKind::kSwap) {
    const auto bytes = static_cast<size_t>(send.bytes());
    std::memcpy(both, request.expected, bytes);
    std::memcpy(both + bytes, send.data, bytes);
    send = {both, &TypedLayout::One(Element::kByte), static_cast<int64_t>(2 * bytes)};
  }
  Inline(&send, &message);
  if (send.count == 0 && request.receive.count == 0 && !request.is_followed) {
    message.header.fences = context_->fences();
    const Status status = TryFrame(request.rank, message);
    if (status.ok()) {
      ++PeerOf(request.rank).requests;
      request.End();
    }
    if (status.code() != StatusCode::kNoResource) return status;
  }
  Outgoing* const added = New(request.rank, message, send, request.receive);
  added->over = request.over;
  added->is_followed = request.is_followed;
  added->fence_follows = request.fence_follows;
  added->may_go_unstaged = request.may_go_unstaged;
  return Add(added);
}

Outgoing* RequestOutbox::New(int target, const RmaFrame& frame, const RmaRequest::Values& send,
                             const RmaRequest::Values& receive) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<uint32_t>(slots_.size()));
    tokens_.push_back(unused_.back() + 1);
    BRIGADE_CHECK_LT(tokens_.back(), kUse);
    slots_.emplace_back();
  }
  const uint32_t slot = unused_.back();
  unused_.pop_back();
  return &slots_[slot].emplace(slot, target, frame, send, receive);
}

void RequestOutbox::Release(Outgoing* request) {
  const uint32_t slot = request->slot;
  if (request->receive_buffer != nullptr)
    context_->engine()->buffers()->Release(request->receive_buffer);
  slots_[slot].reset();
  tokens_[slot] += kUse;
  unused_.push_back(slot);
}

Outgoing* RequestOutbox::Find(uint32_t token) {
  const uint32_t slot = token % kUse - 1;
  const bool is_used = slot < slots_.size() && slots_[slot].has_value() && tokens_[slot] == token;
  return is_used ? &*slots_[slot] : nullptr;
}

Status RequestOutbox::Add(Outgoing* added) {
  Peer& peer = PeerOf(added->target);
  RmaHeader& header = added->message.header;
  if (header.kind <= RmaKind::kLayout) {
    ++peer.requests;
    header.fences = context_->fences();
  }
  if (added->wants_reply()) header.token = tokens_[added->slot];
  if (added->wants_reply()) {
    added->place = StridedLayout::Contiguous(static_cast<size_t>(added->to->size()));
    added->lands_in_place = added->received->layout.is_contiguous() &&
                            added->to->size() > kMostInlined &&
                            context_->endpoint()->LandsInPlace(
                                context_->channel(kReplyChannel), added->target,
                                {&added->place, added->received->data, 0, added->place.bytes()});
    if (added->lands_in_place && header.layout_index == RmaHeader::kContiguous)
      header.TakeUnstaged();
  }
  if (added->may_go_unstaged && added->sent.has_value() && added->sent->layout.is_contiguous() &&
      header.layout_index == RmaHeader::kContiguous) {
    const UnstagedData data(context_, kRequestChannel, added->target, added->sent->data,
                            added->from->size(), header.element);
    if (data.CanGo()) added->unstaged = data;
  }
  ++peer.under_way;
  (peer.waiting++ == 0 ? peer.first : peer.last->next) = added;
  peer.last = added;
  // A rank that gets one value computes while it comes, and others may wait for what a fetch or a
  // swap changes.
  const bool may_wait =
      !added->wants_reply() || (header.kind == RmaKind::kGet && peer.under_way > 1);
  const bool is_held = added->is_followed && added->has_gone() && added->is_answered_by_frame() &&
                       may_wait && peer.waiting <= rules::kMostHeldRequests;
  bool any = false;
  if (!is_held && !peer.is_stuck) return SendWaiting(added->target, &any);
  AddOnce(&busy_, added->target);
  if (is_held && added->over != nullptr) {
    std::exchange(added->over, nullptr)->store(true, std::memory_order_release);
  }
  return Status();
}

Status RequestOutbox::SendWaiting(int target, bool* any) {
  Peer& peer = PeerOf(target);
  stuck_ -= std::exchange(peer.is_stuck, false) ? 1 : 0;
  while (peer.waiting > 0) {
    Outgoing* const first = peer.first;
    BRIGADE_RETURN_IF_ERROR(Send(first, &peer.is_stuck, any));
    if (peer.is_stuck) {
      ++stuck_;
      AddOnce(&busy_, target);
      return Status();
    }
    peer.first = first->next;
    --peer.waiting;
    EndIfOver(first);
  }
  if (peer.held == nullptr) Remove(&busy_, target);
  return Status();
}

bool RequestOutbox::IsFollowed(const Peer& peer) {
  if (peer.waiting < 2) return false;
  const Outgoing& next = *peer.first->next;
  return next.has_gone() && next.is_answered_by_frame();
}

bool RequestOutbox::ReserveReceiveBuffer(Outgoing* request) {
  if (request->is_answered_by_frame() || request->lands_in_place ||
      request->receive_buffer != nullptr) {
    return true;
  }
  request->receive_buffer = context_->space()->Take(WindowSpace::Use::kReplyReceiveBuffer,
                                                    context_->group(), request->target);
  return request->receive_buffer != nullptr;
}

Status RequestOutbox::Send(Outgoing* request, bool* stuck, bool* any) {
  if (!request->announced) {
    *stuck = !ReserveReceiveBuffer(request);
    if (*stuck) return Status();
    StagedBuffer* first = nullptr;
    int64_t bytes = 0;
    if (request->unstaged.has_value()) {
      bytes = request->unstaged->AnnounceFirst();
      request->message.header.token = static_cast<uint32_t>(bytes);
    } else if (!request->wants_reply() && !request->has_gone()) {
      first = TakeSegment(*request, &bytes);
      request->message.header.token = first == nullptr ? 0 : static_cast<uint32_t>(bytes);
    }
    const Peer& peer = PeerOf(request->target);
    const bool more_follows =
        first != nullptr || peer.held != nullptr ||
        (request->unstaged.has_value() && bytes < request->unstaged->left()) ||
        (request->has_gone() && IsFollowed(peer));
    const Status status = context_->frames()->Try(
        request->target, request->message, more_follows ? Urgency::kWithNext : Urgency::kCanWait);
    if (!status.ok()) {
      if (first != nullptr) context_->engine()->buffers()->Release(first);
      *stuck = status.code() == StatusCode::kNoResource;
      return *stuck ? Status() : status;
    }
    request->announced = true;
    *any = true;
    BRIGADE_RETURN_IF_ERROR(SendHeld(request->target));
    if (first != nullptr) BRIGADE_RETURN_IF_ERROR(SendSegment(request, bytes, first));
  }
  return request->unstaged.has_value() ? SendUnstaged(request, stuck, any)
                                       : SendSegments(request, stuck, any);
}

StagedBuffer* RequestOutbox::TakeSegment(const Outgoing& request, int64_t* bytes) {
  *bytes = std::min(context_->SegmentBytes(request.message.header.element),
                    request.from->size() - request.from->position());
  return context_->space()->Take(WindowSpace::Use::kRequest, context_->group(), request.target);
}

Status RequestOutbox::SendSegment(Outgoing* request, int64_t bytes, StagedBuffer* buffer) {
  context_->mover().Gather(&*request->from, request->sent->data, bytes, buffer->memory.data);
  Peer& peer = PeerOf(request->target);
  peer.held = buffer;
  peer.held_bytes = bytes;
  AddOnce(&busy_, request->target);
  const bool waits =
      request->fence_follows && request->has_gone() && bytes <= rules::kMostHeldBytes;
  return waits ? Status() : SendHeld(request->target);
}

Status RequestOutbox::SendHeld(int target) {
  Peer& peer = PeerOf(target);
  if (peer.held == nullptr) return Status();
  if (peer.waiting == 0) Remove(&busy_, target);
  return context_->SendSegment(kRequestChannel, target, peer.held_bytes,
                               std::exchange(peer.held, nullptr));
}

Status RequestOutbox::SendSegments(Outgoing* request, bool* stuck, bool* any) {
  while (!request->has_gone()) {
    RmaFrame segment(RmaKind::kSegment);
    StagedBuffer* const buffer = TakeSegment(*request, &segment.header.bytes);
    *stuck = buffer == nullptr;
    if (*stuck) return Status();
    const Status status = context_->frames()->Try(request->target, segment, Urgency::kWithNext);
    if (!status.ok()) {
      context_->engine()->buffers()->Release(buffer);
      *stuck = status.code() == StatusCode::kNoResource;
      return *stuck ? Status() : status;
    }
    BRIGADE_RETURN_IF_ERROR(SendSegment(request, segment.header.bytes, buffer));
    *any = true;
  }
  return Status();
}

Status RequestOutbox::SendUnstaged(Outgoing* request, bool* stuck, bool* any) {
  const Status status = request->unstaged->Advance(RmaFrame(RmaKind::kSegment), nullptr, any);
  const int64_t left = request->unstaged->left();
  request->from->Seek(request->from->size() - left);
  *stuck = left > 0;
  return status;
}

void RequestOutbox::EndIfOver(Outgoing* request) {
  if (!request->is_over()) return;
  --PeerOf(request->target).under_way;
  if (request->over != nullptr) request->over->store(true, std::memory_order_release);
  Release(request);
}

Status RequestOutbox::TakeReply(int from, const RmaFrame& message) {
  Outgoing* const request = Find(message.header.token);
  if (request == nullptr || request->target != from || !request->wants_reply()) {
    return BadFrame(from, "replies to no request");
  }
  if (message.header.bytes <= 0 ||
      message.header.bytes > request->to->size() - request->announced_back ||
      (message.header.inlined > 0
           ? message.header.inlined != message.header.bytes
           : !request->lands_in_place &&
                 message.header.bytes > static_cast<int64_t>(context_->space()->segment_bytes()))) {
    return BadFrame(from, "replies with " + std::to_string(message.header.bytes) +
                              " bytes, which no request expects");
  }
  request->announced_back += message.header.bytes;
  std::deque<Arrival>& arrivals = PeerOf(from).arrivals;
  arrivals.emplace_back();
  arrivals.back().request = request;
  arrivals.back().message = message;
  AddOnce(&answering_, from);
  // The segment may come next.
  bool any = false;
  return PostReceiveBuffers(from, &PeerOf(from), &any);
}

Status RequestOutbox::PostReceiveBuffers(int from, Peer* peer, bool* any) {
  for (Arrival& arrival : peer->arrivals) {
    if (arrival.posted || arrival.message.header.inlined > 0) continue;
    Outgoing* const request = arrival.request;
    const int64_t bytes = arrival.message.header.bytes;
    Status status;
    if (request->lands_in_place) {
      status = context_->endpoint()->PostReceiveInPlace(
          context_->channel(kReplyChannel), from,
          {&request->place, request->received->data, request->posted_in_place,
           static_cast<size_t>(bytes)},
          &arrival.slot);
      if (status.ok()) request->posted_in_place += static_cast<size_t>(bytes);
    } else {
      StagedBuffer* buffer = std::exchange(request->receive_buffer, nullptr);
      if (buffer == nullptr) {
        buffer =
            context_->space()->Take(WindowSpace::Use::kReplyReceiveBuffer, context_->group(), from);
      }
      if (buffer == nullptr) return Status();
      status = context_->Land(kReplyChannel, from, bytes, buffer, &arrival.slot);
      if (!status.ok()) request->receive_buffer = buffer;
    }
    if (status.code() == StatusCode::kNoResource) return Status();
    BRIGADE_RETURN_IF_ERROR(status);
    arrival.posted = true;
    *any = true;
  }
  return Status();
}

Status RequestOutbox::TakeArrivals(Peer* peer, bool* any) {
  while (!peer->arrivals.empty()) {
    Arrival& arrival = peer->arrivals.front();
    const RmaHeader& header = arrival.message.header;
    Outgoing* const request = arrival.request;
    LayoutCursor& to = *request->to;
    if (header.inlined > 0) {
      Scatter(arrival.message.data, header.bytes, &to, request->received->data);
    } else {
      if (!arrival.slot.arrived) return Status();
      BRIGADE_RETURN_IF_ERROR(arrival.slot.status);
      if (static_cast<int64_t>(arrival.slot.lease.bytes) != header.bytes) {
        return BadFrame(request->target, "sends a segment of another length than announced");
      }
      if (request->lands_in_place) {
        to.Seek(to.position() + header.bytes);
      } else {
        context_->mover().Scatter(arrival.slot.lease.data, header.bytes, &to,
                                  request->received->data);
      }
      // The memory that was reserved for the request stays with it.
      if (request->receive_buffer == nullptr) request->receive_buffer = arrival.slot.buffer;
      if (request->receive_buffer == arrival.slot.buffer) arrival.slot.buffer = nullptr;
      context_->engine()->buffers()->Drop(&arrival.slot);
    }
    *any = true;
    peer->arrivals.pop_front();
    EndIfOver(request);
  }
  return Status();
}

Status RequestOutbox::Advance(bool* any) {
  for (size_t i = 0; i < busy_.size();) {
    const int target = busy_[i];
    BRIGADE_RETURN_IF_ERROR(SendWaiting(target, any));
    BRIGADE_RETURN_IF_ERROR(SendHeld(target));
    if (i < busy_.size() && busy_[i] == target) ++i;
  }
  for (size_t i = 0; i < answering_.size();) {
    Peer& peer = PeerOf(answering_[i]);
    BRIGADE_RETURN_IF_ERROR(PostReceiveBuffers(answering_[i], &peer, any));
    BRIGADE_RETURN_IF_ERROR(TakeArrivals(&peer, any));
    if (peer.arrivals.empty()) {
      answering_.erase(answering_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return Status();
}

void RequestOutbox::Drop() {
  StagingBuffers* const buffers = context_->engine()->buffers();
  for (Peer& peer : peers_) {
    for (Arrival& arrival : peer.arrivals) buffers->Drop(&arrival.slot);
    if (peer.held != nullptr) buffers->Release(std::exchange(peer.held, nullptr));
    peer.arrivals.clear();
    peer.waiting = 0;
    peer.is_stuck = false;
    peer.under_way = 0;
  }
  for (std::optional<Outgoing>& request : slots_) {
    if (request.has_value()) Release(&*request);
  }
  busy_.clear();
  stuck_ = 0;
  answering_.clear();
}

}  // namespace brigade
