#include "patterns/direct/mutual_offers.h"

#include <atomic>
#include <cstring>
#include <string>

#include "membuf/combine.h"
#include "patterns/engine/time_limit.h"
#include "patterns/short_path/group_edges.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/host_memory/shared_source.h"

namespace brigade {
namespace {

// Of a writer that takes its memory away: what it says of that comes before it writes to it. Of a
// reader: it has read before it looks for that. Of either: what it has said so far comes before it
// looks what the other says. GCC warns that ThreadSanitizer knows of no fences.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void FenceBehindSaying() { std::atomic_thread_fence(std::memory_order_release); }
void FenceBehindReading() { std::atomic_thread_fence(std::memory_order_acquire); }
void FenceBeforeLooking() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif

uint64_t NumberIn(uint64_t word) { return word >> 3; }
uint64_t StepIn(uint64_t word) { return word & 7; }

}  // namespace

struct MutualOffers::Place {
  WireHeader header;
  RemoteStretches memory;  // of no bytes: there is nothing to read
  uint64_t offset = 0;
  SharedSegment::Address segment;
};

MutualOffers::MutualOffers(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                           const PatternCall& call, uint64_t sequence)
    : entry_(entry), call_(call), scope_(group->scope(call.scope)), wait_{engine,
                                                                          group,
                                                                          &entry,
                                                                          call.scope,
                                                                          sequence,
                                                                          call.timeout_seconds} {
  for (int i = 0; i < peer_count(); ++i) peers_[i].rank = (scope_.rank + i + 1) % scope_.size;
}

int MutualOffers::PortionFrom(int owner, int reader) const {
  if (!entry_.multi) return -1;
  return entry_.combines ? reader : owner;
}

const Matrix& MutualOffers::OfferFrom(int owner, int reader) const {
  static const Matrix nothing;
  if (entry_.pattern == Pattern::kReduce && owner == call_.root) return nothing;
  const int portion = PortionFrom(owner, reader);
  return portion < 0 ? call_.matrix : call_.portions[portion];
}

WireHeader MutualOffers::HeaderOf(int owner, int reader) const {
  WireHeader header;
  SetHeader(entry_, call_, wait_.sequence, OfferFrom(owner, reader).layout.bytes(), &header);
  header.portion = PortionFrom(owner, reader);
  return header;
}

bool MutualOffers::Locate(int reader, Place* place) const {
  place->header = HeaderOf(scope_.rank, reader);
  const Matrix& matrix = OfferFrom(scope_.rank, reader);
  if (matrix.layout.bytes() == 0) return true;
  const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
  if (source.segment == nullptr) return false;
  place->memory = source.memory;
  place->offset = source.offset;
  place->segment = source.segment->address();
  return true;
}

bool MutualOffers::MayOfferTo(const Peer& peer) const {
  if (peer.out == nullptr || peer.in == nullptr) return false;
  const uint64_t last = peer.out->notice();
  if (StepIn(last) == kLeft) {
    constexpr uint64_t kCalls = rules::kCallsPerMutualTry;
    if ((NumberIn(last) - 1) / kCalls == wait_.sequence / kCalls) return false;
    FenceBeforeLooking();
  }
  // A root that is in an earlier call than this rank may be reading what was said of that.
  const uint64_t theirs = peer.in->notice();
  const bool is_over = theirs == 0 || StepIn(theirs) == kLeft || StepIn(theirs) == kDone;
  return theirs >= WordOf(kOffers) || is_over;
}

bool MutualOffers::Offer() {
  static_assert(sizeof(Place) <= EdgeNotice::kTextBytes);
  for (int i = 0; i < peer_count(); ++i) {
    Peer& peer = peers_[i];
    Place place;
    if (!Locate(peer.rank, &place)) return false;
    peer.out = EdgeTo(wait_.engine, wait_.group, wait_.kind, scope_.GroupRank(peer.rank));
    peer.in = EdgeFrom(wait_.group, wait_.kind, scope_.GroupRank(peer.rank));
    if (!MayOfferTo(peer)) return false;
    std::memcpy(peer.out->notice_text(), &place, sizeof(place));
  }
  Say(kOffers);
  FenceBeforeLooking();
  return true;
}

void MutualOffers::Say(Step step) {
  for (int i = 0; i < peer_count(); ++i) peers_[i].out->SetNotice(WordOf(step));
}

Status MutualOffers::Agree(bool* agreed) {
  Status status = AwaitDecision(kOffers, agreed);
  if (status.ok() && *agreed) *agreed = FindAll();
  if (status.ok() && *agreed) {
    Say(kReads);
    status = AwaitDecision(kReads, agreed);
  }
  if (!status.ok()) return Withdraw(status);
  if (!*agreed) Say(kLeft);
  return status;
}

Status MutualOffers::AwaitDecision(Step step, bool* all) {
  const auto over = [&] { return IsDecided(step, all); };
  if (PollUntil(wait_.engine, wait_.peer, over)) return Status();
  TimeLimit patience;
  if (step == kOffers) {
    // Who sends to the root has nobody else to wait for.
    if (entry_.pattern == Pattern::kReduce && scope_.rank != call_.root) return Status();
    patience.Start(rules::kMutualPatienceSeconds);
  }
  return wait_.Until([&] { return over() || patience.is_over(); });
}

// Who is ahead of this rank's call has left it, since nobody ends it otherwise before all agree.
bool MutualOffers::IsDecided(Step step, bool* all) {
  *all = true;
  for (int i = 0; i < peer_count(); ++i) {
    const Peer& peer = peers_[i];
    const uint64_t word = peer.in->notice();
    const bool has_left = word == WordOf(kLeft) || word > WordOf(kDone);
    if (word >= WordOf(step) && !has_left) continue;
    *all = false;
    wait_.peer = scope_.GroupRank(peer.rank);
    if (has_left || peer.in->lost() || peer.in->Peek() != nullptr) return true;
  }
  return *all;
}

bool MutualOffers::FindAll() {
  for (int i = 0; i < peer_count(); ++i) {
    Peer& peer = peers_[i];
    Place place;
    std::memcpy(static_cast<void*>(&place), peer.in->notice_text(), sizeof(place));
    const WireHeader expected = HeaderOf(peer.rank, scope_.rank);
    if (std::memcmp(&place.header, &expected, sizeof(expected)) != 0) return false;
    if (place.memory.bytes != expected.total_bytes) return false;
    if (place.memory.bytes == 0) continue;
    peer.data = peer.in->Map(place.memory, place.segment, place.offset, &peer.layout);
    if (peer.data == nullptr) return false;
    if (entry_.combines && peer.layout.run_bytes() % ElementBytes(call_.type) != 0) return false;
  }
  return true;
}

Status MutualOffers::Withdraw(const Status& status) {
  Say(kLeft);
  FenceBehindSaying();
  return wait_.Break(status);
}

Status MutualOffers::Await(const Peer& peer, Step step) {
  bool lost = false;
  const auto over = [&] {
    if (peer.in->notice() >= WordOf(step)) return true;
    return lost = peer.in->lost();
  };
  wait_.peer = scope_.GroupRank(peer.rank);
  FenceBehindReading();
  if (!PollUntil(wait_.engine, wait_.peer, over)) BRIGADE_RETURN_IF_ERROR(wait_.Until(over));
  if (!lost) return Status();
  return {StatusCode::kPeerLost, "rank " + std::to_string(wait_.peer) +
                                     " of the group is gone, with which this rank shared a call"};
}

}  // namespace brigade
