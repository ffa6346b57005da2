#include "patterns/direct/offers.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "membuf/byte_span.h"
#include "membuf/rules.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/time_limit.h"
#include "patterns/short_path/group_edges.h"
#include "transport/channel.h"

namespace brigade {
namespace {

static_assert(kHeaderBytes == EdgeLanding::kHeadBytes);

}  // namespace

bool OffersOut::Add(int peer) {
  OutEdge* const edge = EdgeTo(wait_.engine, wait_.group, wait_.kind, peer);
  if (edge == nullptr || !edge->MayOffer() || count_ == kMostReaders) return false;
  peers_[count_] = peer;
  edges_[count_++] = edge;
  return true;
}

bool OffersOut::MayOffer(const Matrix& matrix) {
  if (matrix.layout.bytes() < rules::kLeastOfferedBytes) return false;
  source_ = SharedSource::Of(matrix.layout, matrix.data);
  const bool may_be_read = source_.segment != nullptr ||
                           (wait_.kind != ChannelKind::kPointToPoint && source_.memory.bytes > 0 &&
                            std::all_of(edges_, edges_ + count_, [&](const OutEdge* edge) {
                              return edge->CopiesByKernel(matrix.layout);
                            }));
  if (!may_be_read) return false;
  for (int i = 0; i < count_; ++i) edges_[i]->AskToAwait();
  return true;
}

bool OffersOut::IsAwaited(bool looks) const {
  const auto all_wait = [&] {
    return std::all_of(edges_, edges_ + count_,
                       [](const OutEdge* edge) { return edge->IsAwaited(); });
  };
  if (all_wait()) return true;
  if (!looks) return false;
  const auto end = Engine::Clock::now() + std::chrono::microseconds(rules::kLookForReadersUs);
  while (!all_wait()) {
    if (Engine::Clock::now() > end) return false;
  }
  return true;
}

// Who is held goes no other way: so all are, or none, before any is offered it.
bool OffersOut::Offer(const WireHeader& header, bool all_or_none) {
  const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header), sizeof(header));
  int held = 0;
  for (int i = 0; i < count_; ++i) {
    has_offer_[i] = edges_[i]->Hold(source_, wait_.sequence);
    held += has_offer_[i] ? 1 : 0;
  }
  const bool offers = held == count_ || (held > 0 && !all_or_none);
  for (int i = 0; i < count_; ++i) {
    if (!has_offer_[i]) continue;
    if (offers) {
      edges_[i]->Offer(head, source_);
    } else {
      edges_[i]->LetGo();
      has_offer_[i] = false;
    }
  }
  return offers;
}

bool OffersOut::TakeBack() {
  bool any = false;
  for (int i = 0; i < count_; ++i) {
    any |= has_offer_[i] = has_offer_[i] && !edges_[i]->TakeOfferBack();
  }
  return any;
}

uint64_t OffersOut::AwaitReaders() {
  PollUntil(wait_.engine, peers_[0], [&] {
    return std::none_of(edges_, edges_ + count_,
                        [](const OutEdge* edge) { return edge->IsOpenOffer(); });
  });
  if (!TakeBack()) return 0;
  TimeLimit patience;
  patience.Start(rules::kReaderPatienceSeconds +
                 rules::kReaderPatienceSecondsPerByte * static_cast<double>(source_.memory.bytes));
  uint64_t readers = 0;
  int unread_by = -1;
  for (int i = 0; i < count_; ++i) {
    if (!has_offer_[i]) continue;
    OutEdge* const edge = edges_[i];
    wait_.peer = peers_[i];
    (void)wait_.Until([&] { return !edge->HasOffer() || edge->lost() || patience.is_over(); });
    if (edge->EndOffer()) {
      readers |= uint64_t{1} << i;
    } else if (!edge->lost()) {
      unread_by = peers_[i];
    }
  }
  const Status failure = wait_.Failure();
  if (unread_by >= 0 && !failure.ok()) {
    wait_.peer = unread_by;
    (void)wait_.Break(failure);
  }
  return readers;
}

// Whom a sender copies to cannot go away, not even when the time of the call is over: a copy that
// has begun cannot be kept from this rank's memory. The sender waits for nobody while it copies.
const Slot* AwaitMessageOrOffer(CallWait* wait, InEdge* edge) {
  const Slot* slot = nullptr;
  const auto is_here = [&] { return (slot = edge->Peek()) != nullptr || edge->TakeOffer(); };
  if (PollUntil(wait->engine, wait->peer, is_here)) return slot;
  wait->Await([&] { return edge->TakeLandingBack() || is_here() || edge->lost(); });
  return edge->has_offer() ? nullptr : edge->Peek();  // who is lost may have sent it before
}

size_t OfferedBytes(const InEdge& edge) {
  WireHeader header;
  std::memcpy(&header, edge.OfferedHead().data, kHeaderBytes);
  return header.total_bytes;
}

bool ReadOffer(InEdge* edge, const WireHeader& expected, const Matrix& matrix) {
  const bool is_read = std::memcmp(edge->OfferedHead().data, &expected, kHeaderBytes) == 0 &&
                       edge->ReadOffer(expected.total_bytes, matrix.layout, matrix.data);
  return edge->EndOffer(is_read) && is_read;
}

}  // namespace brigade
