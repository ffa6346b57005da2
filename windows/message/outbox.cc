#include "windows/message/outbox.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "membuf/rules.h"
#include "transport/endpoint.h"
#include "windows/layout/layout_copy.h"

namespace brigade {
namespace {

void AddOnce(std::vector<int>* ranks, int rank) {
  if (std::find(ranks->begin(), ranks->end(), rank) == ranks->end()) ranks->push_back(rank);
}

void Remove(std::vector<int>* ranks, int rank) {
  ranks->erase(std::remove(ranks->begin(), ranks->end(), rank), ranks->end());
}

Status Nonsense(int from, const std::string& what) {
  return Status(StatusCode::kMismatch, "rank " + std::to_string(from) + " " + what);
}

}  // namespace

Outbox::Outbox(MessageContext* context) : context_(context), peers_(context->group()->members()) {}

Status Outbox::Name(int target, const TypedLayout& layout, Note* note) {
  const LayoutName name = names_.NameOf(layout);
  note->layout_index = name.index;
  note->layout_generation = name.generation;
  if (!names_.MustTell(name, target)) return Status();
  const std::string bytes = layout.ToBytes();
  std::vector<std::byte> serial(bytes.size());
  std::memcpy(serial.data(), bytes.data(), bytes.size());
  Note told;
  told.kind = NoteKind::kLayout;
  told.layout_index = name.index;
  told.layout_generation = name.generation;
  told.bytes = static_cast<int64_t>(serial.size());
  const OriginData data{serial.data(), TypedLayout::Run(Element::kByte, told.bytes), 1};
  auto request = std::make_unique<Outgoing>(target, told, data, OriginData());
  request->serial = std::move(serial);
  ++layouts_told_;
  return Add(std::move(request));
}

Status Outbox::AddNote(int target, const Note& note) {
  const Peer& peer = PeerOf(target);
  if (peer.waiting.empty()) {
    NoteMessage message;
    message.note = note;
    const Urgency urgency = peer.held == nullptr ? Urgency::kCanWait : Urgency::kWithNext;
    const Status status = context_->notes()->Try(target, message, urgency);
    if (status.ok()) return SendHeld(target);
    if (status.code() != StatusCode::kNoResource) return status;
  }
  return Add(std::make_unique<Outgoing>(target, note, OriginData(), OriginData()));
}

Status Outbox::Add(std::unique_ptr<Outgoing> request) {
  Outgoing* const added = request.get();
  Peer& peer = PeerOf(added->target);
  Note& note = added->message.note;
  if (note.kind <= NoteKind::kLayout) {
    ++peer.requests;
    note.fences = context_->fences();
  }
  if (added->wants_reply()) {
    while (requests_.count(next_token_) > 0) ++next_token_;
    note.token = next_token_++;
  }
  const int64_t bytes = added->from->size();
  if (bytes > 0 && bytes <= kMostInlined) {
    note.inlined = static_cast<uint8_t>(bytes);
    Gather(&*added->from, added->sent.data, bytes, added->message.data);
  }
  if (added->wants_reply()) {
    added->place = StridedLayout::Contiguous(static_cast<size_t>(added->to->size()));
    added->lands_in_place = added->received.layout.is_contiguous() &&
                            added->to->size() > kMostInlined &&
                            context_->endpoint()->LandsInPlace(
                                context_->channel(kReplyChannel), added->target,
                                {&added->place, added->received.data, 0, added->place.bytes()});
    if (added->lands_in_place && note.layout_index == Note::kContiguous) note.TakeStraight();
  }
  if (added->may_go_straight && added->sent.layout.is_contiguous() &&
      note.layout_index == Note::kContiguous) {
    const StraightData data(context_, kRequestChannel, added->target, added->sent.data, bytes,
                            note.element);
    if (data.CanGo()) added->straight = data;
  }
  ++peer.under_way;
  // Others have no token: a number that is none.
  const uint64_t key = added->wants_reply() ? note.token : ++next_key_ + UINT32_MAX;
  added->key = key;
  requests_[key] = std::move(request);
  peer.waiting.push_back(added);
  // Who asks for one thing computes while it comes, and others may wait for what a fetch or a swap
  // changes.
  const bool may_wait =
      !added->wants_reply() || (note.kind == NoteKind::kGet && peer.under_way > 1);
  const bool is_held = added->is_followed && added->has_gone() && added->is_answered_by_note() &&
                       may_wait && peer.waiting.size() <= kMostHeld;
  bool any = false;
  if (!is_held && !peer.is_stuck) return SendWaiting(added->target, &any);
  AddOnce(&busy_, added->target);
  if (is_held && added->over != nullptr) {
    std::exchange(added->over, nullptr)->store(true, std::memory_order_release);
  }
  return Status();
}

Status Outbox::SendWaiting(int target, bool* any) {
  Peer& peer = PeerOf(target);
  stuck_ -= std::exchange(peer.is_stuck, false) ? 1 : 0;
  while (!peer.waiting.empty()) {
    Outgoing* const first = peer.waiting.front();
    BRIGADE_RETURN_IF_ERROR(Send(first, &peer.is_stuck, any));
    if (peer.is_stuck) {
      ++stuck_;
      AddOnce(&busy_, target);
      return Status();
    }
    peer.waiting.pop_front();
    EndIfOver(first);
  }
  if (peer.held == nullptr) Remove(&busy_, target);
  return Status();
}

bool Outbox::IsFollowed(const Peer& peer) {
  if (peer.waiting.size() < 2) return false;
  const Outgoing& next = *peer.waiting[1];
  return next.has_gone() && next.is_answered_by_note();
}

bool Outbox::ReserveLanding(Outgoing* request) {
  if (request->is_answered_by_note() || request->lands_in_place || request->landing != nullptr) {
    return true;
  }
  request->landing =
      context_->space()->Take(WindowSpace::Use::kReplyLanding, context_->group(), request->target);
  return request->landing != nullptr;
}

Status Outbox::Send(Outgoing* request, bool* stuck, bool* any) {
  if (!request->announced) {
    *stuck = !ReserveLanding(request);
    if (*stuck) return Status();
    StagedBuffer* first = nullptr;
    int64_t bytes = 0;
    if (request->straight.has_value()) {
      bytes = request->straight->AnnounceFirst();
      request->message.note.token = static_cast<uint32_t>(bytes);
    } else if (!request->wants_reply() && !request->has_gone()) {
      first = TakePiece(*request, &bytes);
      request->message.note.token = first == nullptr ? 0 : static_cast<uint32_t>(bytes);
    }
    const Peer& peer = PeerOf(request->target);
    const bool more_follows =
        first != nullptr || peer.held != nullptr ||
        (request->straight.has_value() && bytes < request->straight->left()) ||
        (request->has_gone() && IsFollowed(peer));
    const Status status = context_->notes()->Try(
        request->target, request->message, more_follows ? Urgency::kWithNext : Urgency::kCanWait);
    if (!status.ok()) {
      if (first != nullptr) context_->engine()->buffers()->Release(first);
      *stuck = status.code() == StatusCode::kNoResource;
      return *stuck ? Status() : status;
    }
    request->announced = true;
    *any = true;
    BRIGADE_RETURN_IF_ERROR(SendHeld(request->target));
    if (first != nullptr) BRIGADE_RETURN_IF_ERROR(SendPiece(request, bytes, first));
  }
  return request->straight.has_value() ? SendStraight(request, stuck, any)
                                       : SendPieces(request, stuck, any);
}

StagedBuffer* Outbox::TakePiece(const Outgoing& request, int64_t* bytes) {
  *bytes = std::min(context_->PieceBytes(request.message.note.element),
                    request.from->size() - request.from->position());
  return context_->space()->Take(WindowSpace::Use::kRequest, context_->group(), request.target);
}

Status Outbox::SendPiece(Outgoing* request, int64_t bytes, StagedBuffer* buffer) {
  context_->mover().Gather(&*request->from, request->sent.data, bytes, buffer->memory.data);
  Peer& peer = PeerOf(request->target);
  peer.held = buffer;
  peer.held_bytes = bytes;
  AddOnce(&busy_, request->target);
  const bool waits =
      request->fence_follows && request->has_gone() && bytes <= rules::kMostHeldBytes;
  return waits ? Status() : SendHeld(request->target);
}

Status Outbox::SendHeld(int target) {
  Peer& peer = PeerOf(target);
  if (peer.held == nullptr) return Status();
  if (peer.waiting.empty()) Remove(&busy_, target);
  return context_->SendPiece(kRequestChannel, target, peer.held_bytes,
                             std::exchange(peer.held, nullptr));
}

Status Outbox::SendPieces(Outgoing* request, bool* stuck, bool* any) {
  while (!request->has_gone()) {
    NoteMessage piece;
    piece.note.kind = NoteKind::kPiece;
    StagedBuffer* const buffer = TakePiece(*request, &piece.note.bytes);
    *stuck = buffer == nullptr;
    if (*stuck) return Status();
    const Status status = context_->notes()->Try(request->target, piece, Urgency::kWithNext);
    if (!status.ok()) {
      context_->engine()->buffers()->Release(buffer);
      *stuck = status.code() == StatusCode::kNoResource;
      return *stuck ? Status() : status;
    }
    BRIGADE_RETURN_IF_ERROR(SendPiece(request, piece.note.bytes, buffer));
    *any = true;
  }
  return Status();
}

Status Outbox::SendStraight(Outgoing* request, bool* stuck, bool* any) {
  Note piece;
  piece.kind = NoteKind::kPiece;
  const Status status = request->straight->Advance(piece, nullptr, any);
  const int64_t left = request->straight->left();
  request->from->Seek(request->from->size() - left);
  *stuck = left > 0;
  return status;
}

void Outbox::EndIfOver(Outgoing* request) {
  if (!request->is_over()) return;
  --PeerOf(request->target).under_way;
  if (request->over != nullptr) request->over->store(true, std::memory_order_release);
  if (request->landing != nullptr) context_->engine()->buffers()->Release(request->landing);
  requests_.erase(request->key);
}

Status Outbox::TakeReply(int from, const NoteMessage& message) {
  const auto found = requests_.find(message.note.token);
  if (found == requests_.end() || found->second->target != from || !found->second->wants_reply()) {
    return Nonsense(from, "replies to what nobody asked");
  }
  Outgoing* const request = found->second.get();
  if (message.note.bytes <= 0 ||
      message.note.bytes > request->to->size() - request->announced_back ||
      (message.note.inlined > 0
           ? message.note.inlined != message.note.bytes
           : !request->lands_in_place &&
                 message.note.bytes > static_cast<int64_t>(context_->space()->piece_bytes()))) {
    return Nonsense(from, "replies with " + std::to_string(message.note.bytes) +
                              " bytes, which is not what was asked for");
  }
  request->announced_back += message.note.bytes;
  std::deque<Arrival>& arrivals = PeerOf(from).arrivals;
  arrivals.emplace_back();
  arrivals.back().request = request;
  arrivals.back().message = message;
  AddOnce(&answering_, from);
  // The piece may come next.
  bool any = false;
  return PostLandings(from, &PeerOf(from), &any);
}

Status Outbox::PostLandings(int from, Peer* peer, bool* any) {
  for (Arrival& arrival : peer->arrivals) {
    if (arrival.posted || arrival.message.note.inlined > 0) continue;
    Outgoing* const request = arrival.request;
    const int64_t bytes = arrival.message.note.bytes;
    Status status;
    if (request->lands_in_place) {
      status = context_->endpoint()->PostReceiveInPlace(
          context_->channel(kReplyChannel), from,
          {&request->place, request->received.data, request->posted_in_place,
           static_cast<size_t>(bytes)},
          &arrival.slot);
      if (status.ok()) request->posted_in_place += static_cast<size_t>(bytes);
    } else {
      StagedBuffer* buffer = std::exchange(request->landing, nullptr);
      if (buffer == nullptr) {
        buffer = context_->space()->Take(WindowSpace::Use::kReplyLanding, context_->group(), from);
      }
      if (buffer == nullptr) return Status();
      status = context_->Land(kReplyChannel, from, bytes, buffer, &arrival.slot);
      if (!status.ok()) request->landing = buffer;
    }
    if (status.code() == StatusCode::kNoResource) return Status();
    BRIGADE_RETURN_IF_ERROR(status);
    arrival.posted = true;
    *any = true;
  }
  return Status();
}

Status Outbox::TakeArrivals(Peer* peer, bool* any) {
  while (!peer->arrivals.empty()) {
    Arrival& arrival = peer->arrivals.front();
    const Note& note = arrival.message.note;
    Outgoing* const request = arrival.request;
    LayoutCursor& to = *request->to;
    if (note.inlined > 0) {
      Scatter(arrival.message.data, note.bytes, &to, request->received.data);
    } else {
      if (!arrival.slot.arrived) return Status();
      BRIGADE_RETURN_IF_ERROR(arrival.slot.status);
      if (static_cast<int64_t>(arrival.slot.lease.bytes) != note.bytes) {
        return Nonsense(request->target, "sends a piece of another length than it said");
      }
      if (request->lands_in_place) {
        to.Seek(to.position() + note.bytes);
      } else {
        context_->mover().Scatter(arrival.slot.lease.data, note.bytes, &to, request->received.data);
      }
      // The memory that was reserved for the request stays with it.
      if (request->landing == nullptr) request->landing = arrival.slot.buffer;
      if (request->landing == arrival.slot.buffer) arrival.slot.buffer = nullptr;
      context_->engine()->buffers()->Drop(&arrival.slot);
    }
    *any = true;
    peer->arrivals.pop_front();
    EndIfOver(request);
  }
  return Status();
}

Status Outbox::Advance(bool* any) {
  for (size_t i = 0; i < busy_.size();) {
    const int target = busy_[i];
    BRIGADE_RETURN_IF_ERROR(SendWaiting(target, any));
    BRIGADE_RETURN_IF_ERROR(SendHeld(target));
    if (i < busy_.size() && busy_[i] == target) ++i;
  }
  for (size_t i = 0; i < answering_.size();) {
    Peer& peer = PeerOf(answering_[i]);
    BRIGADE_RETURN_IF_ERROR(PostLandings(answering_[i], &peer, any));
    BRIGADE_RETURN_IF_ERROR(TakeArrivals(&peer, any));
    if (peer.arrivals.empty()) {
      answering_.erase(answering_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return Status();
}

void Outbox::Drop() {
  StagingBuffers* const buffers = context_->engine()->buffers();
  for (Peer& peer : peers_) {
    for (Arrival& arrival : peer.arrivals) buffers->Drop(&arrival.slot);
    if (peer.held != nullptr) buffers->Release(std::exchange(peer.held, nullptr));
    peer.arrivals.clear();
    peer.waiting.clear();
    peer.is_stuck = false;
    peer.under_way = 0;
  }
  for (auto& [key, request] : requests_) {
    if (request->landing != nullptr) buffers->Release(request->landing);
  }
  requests_.clear();
  busy_.clear();
  stuck_ = 0;
  answering_.clear();
}

}  // namespace brigade
