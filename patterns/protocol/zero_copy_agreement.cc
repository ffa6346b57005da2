#include "patterns/protocol/zero_copy_agreement.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "patterns/eager/group_edges.h"
#include "patterns/engine/out_of_memory.h"
#include "transport/host_memory/peer_mapping.h"
#include "transport/host_memory/shared_source.h"

namespace brigade {
namespace {

// A rank publishes that it withdraws its memory before it writes to that memory again. A reader
// has read the memory before it checks the status word. GCC warns that ThreadSanitizer knows of no
// fences.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void FenceAfterWithdrawal() { std::atomic_thread_fence(std::memory_order_release); }
void FenceAfterRead() { std::atomic_thread_fence(std::memory_order_acquire); }
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif

}  // namespace

// The byte counts of all matrices are in the header.
struct ZeroCopyAgreement::Place {
  struct Stretches {
    uint64_t address = 0;
    uint64_t stretch_bytes = 0;
    uint64_t stride_bytes = 0;
    RemoteStretches Of(uint64_t bytes) const {
      return {address, stretch_bytes, stride_bytes, bytes};
    }
  };
  WireHeader header;
  Stretches memory;
  uint64_t offset = 0;  // in the segment; 0: it lies in none
  SharedSegment::Address segment;
  // The result, in the same segment; of no bytes: it is in that memory.
  Stretches result;
};

ZeroCopyAgreement::ZeroCopyAgreement(const CallRun& run)
    : entry_(*run.plan.entry),
      call_(run.call),
      scope_(*run.plan.scope),
      header_(run.plan.header),
      wait_{run.engine,    run.group,     run.plan.entry,
            run.plan.kind, *run.sequence, run.call.timeout_seconds} {
  header_.sequence = static_cast<uint32_t>(*run.sequence);
  header_.total_bytes = call_.matrix.layout.bytes();
  wait_.limit = run.limit;
  wait_.header = &header_;
  wait_.schedule = run.plan.schedule.get();
  for (int i = 0; i < peer_count(); ++i) peers_[i].rank = (scope_.rank + i + 1) % scope_.size;
}

int ZeroCopyAgreement::BlockFrom(int owner, int reader) const {
  if (!entry_.multi) return -1;
  return entry_.combines ? reader : owner;
}

const Matrix& ZeroCopyAgreement::MatrixFor(int owner, int reader) const {
  if (entry_.pattern == Pattern::kAllToAll && owner == scope_.rank) return call_.sent[reader];
  const int block = BlockFrom(owner, reader);
  return block < 0 ? ContributionOf(call_) : call_.blocks[block];
}

WireHeader ZeroCopyAgreement::HeaderOf(int owner, int reader) const {
  WireHeader header = header_;
  header.total_bytes = MatrixFor(owner, reader).layout.bytes();
  header.block = BlockFrom(owner, reader);
  return header;
}

bool ZeroCopyAgreement::Locate(const Peer& reader, Place* place) const {
  place->header = HeaderOf(scope_.rank, reader.rank);
  const auto locate = [&](const Matrix& matrix, Place::Stretches* memory, uint64_t* offset,
                          SharedSegment::Address* segment) {
    const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
    *memory = {source.memory.address, source.memory.stretch_bytes, source.memory.stride_bytes};
    *offset = source.offset;
    if (source.segment != nullptr) {
      *segment = source.segment->address();
      return true;
    }
    return source.memory.bytes > 0 && MayUseKernel() &&
           reader.out->peer_memory().kernel_copies().reads.Holds(matrix.layout);
  };
  const Matrix& matrix = MatrixFor(scope_.rank, reader.rank);
  if (matrix.layout.bytes() == 0) return true;
  if (!locate(matrix, &place->memory, &place->offset, &place->segment)) return false;
  if (!HasSource(call_)) return true;
  uint64_t offset = 0;
  SharedSegment::Address segment;
  return locate(call_.matrix, &place->result, &offset, &segment) && segment == place->segment &&
         offset - place->offset == place->result.address - place->memory.address;
}

bool ZeroCopyAgreement::Expose() {
  static_assert(sizeof(Place) <= EdgeStatus::kTextBytes);
  if (!HasEdges()) return false;
  Place places[rules::kMostRanksOfZeroCopy];  // by the rank in the scope
  for (int i = 0; i < peer_count(); ++i) {
    if (Locate(peers_[i], &places[peers_[i].rank])) continue;
    Publish(kDeclined);
    return false;
  }
  for (int i = 0; i < peer_count(); ++i) {
    std::memcpy(peers_[i].out->status_text(), &places[peers_[i].rank], sizeof(Place));
  }
  Publish(kExposed);
  return true;
}

bool ZeroCopyAgreement::HasEdges() {
  for (int i = 0; i < peer_count(); ++i) {
    Peer& peer = peers_[i];
    const int rank = scope_.GroupRank(peer.rank);
    peer.out = EdgeTo(wait_.engine, wait_.group, wait_.kind, rank);
    peer.in = EdgeFrom(wait_.group, wait_.kind, rank);
    if (peer.out == nullptr || peer.in == nullptr) return false;
  }
  return true;
}

void ZeroCopyAgreement::Publish(Step step) {
  for (int i = 0; i < peer_count(); ++i) peers_[i].out->SetStatus(WordOf(step));
}

Status ZeroCopyAgreement::Agree(bool* agreed) {
  const Status status = CatchOutOfMemory([&] { return Decide(agreed); });
  if (!status.ok()) return Withdraw(status);
  if (!*agreed) Publish(kDeclined);
  return status;
}

Status ZeroCopyAgreement::Decide(bool* agreed) {
  BRIGADE_RETURN_IF_ERROR(AwaitDecision(kExposed, agreed));
  if (*agreed) *agreed = FindAll();
  if (!*agreed) return Status();
  Publish(kReads);
  return AwaitDecision(kReads, agreed);
}

Status ZeroCopyAgreement::AwaitDecision(Step step, bool* all) {
  wait_.peer = scope_.GroupRank(peers_[0].rank);
  const auto over = [&] { return IsDecided(step, all); };
  if (PollUntil(wait_.engine, wait_.peer, over)) return Status();
  return wait_.UntilMessage(over);
}

// A rank whose word is of a later call has declined this one: no rank ends it before all have
// agreed.
bool ZeroCopyAgreement::IsDecided(Step step, bool* all) {
  *all = true;
  for (int i = 0; i < peer_count(); ++i) {
    const Peer& peer = peers_[i];
    const uint64_t word = peer.in->status();
    const bool has_declined = word == WordOf(kDeclined) || word > WordOf(kDone);
    if (word >= WordOf(step) && !has_declined) continue;
    *all = false;
    wait_.peer = scope_.GroupRank(peer.rank);
    if (has_declined || peer.in->lost() || peer.in->Peek() != nullptr) return true;
  }
  return *all;
}

bool ZeroCopyAgreement::FindAll() {
  for (int i = 0; i < peer_count(); ++i) {
    Peer& peer = peers_[i];
    Place place;
    std::memcpy(static_cast<void*>(&place), peer.in->status_text(), sizeof(place));
    const WireHeader expected = HeaderOf(peer.rank, scope_.rank);
    if (std::memcmp(&place.header, &expected, sizeof(expected)) != 0) return false;
    const uint64_t bytes = expected.total_bytes;
    if (bytes == 0) continue;
    const bool has_source = place.result.stretch_bytes > 0;
    const bool is_all_reduce = entry_.pattern == Pattern::kAllReduce;
    const StridedLayout& to =
        is_all_reduce ? call_.matrix.layout : MatrixFor(peer.rank, scope_.rank).layout;
    const bool is_copied = !entry_.combines || (is_all_reduce && !has_source);
    const RemoteStretches operand = place.memory.Of(bytes);
    if (!Find(peer, place.segment, operand, place.offset, to, is_copied, &peer.operand)) {
      return false;
    }
    peer.result = peer.operand;
    if (!has_source) continue;
    const RemoteStretches result = place.result.Of(bytes);
    const uint64_t offset = place.offset + (result.address - operand.address);
    if (!Find(peer, place.segment, result, offset, to, /*is_copied=*/true, &peer.result)) {
      return false;
    }
  }
  return true;
}

bool ZeroCopyAgreement::Find(const Peer& peer, const SharedSegment::Address& segment,
                             const RemoteStretches& memory, uint64_t offset,
                             const StridedLayout& to, bool is_copied, Readable* found) const {
  if (offset == 0) {
    found->memory = memory;
    return MayUseKernel() && peer.in->peer_memory().ProbeRead(memory, to);
  }
  found->data = peer.in->peer_memory().Map(memory, segment, offset, &found->layout);
  if (found->data == nullptr || (is_copied && !GoesInOneCopy(found->layout, to))) return false;
  return !entry_.combines || found->layout.run_bytes() % ElementBytes(call_) == 0;
}

Status ZeroCopyAgreement::Withdraw(const Status& status) {
  Publish(kDeclined);
  FenceAfterWithdrawal();
  return wait_.Break(status);
}

Status ZeroCopyAgreement::Await(const Peer& peer, Step step) {
  bool lost = false;
  const auto over = [&] {
    if (peer.in->status() >= WordOf(step)) return true;
    return lost = peer.in->lost();
  };
  wait_.peer = scope_.GroupRank(peer.rank);
  FenceAfterRead();
  if (!PollUntil(wait_.engine, wait_.peer, over)) BRIGADE_RETURN_IF_ERROR(wait_.Until(over));
  return lost ? Lost(peer) : Status();
}

Status ZeroCopyAgreement::Read(const Peer& peer, const RemoteStretches& memory, size_t offset,
                               size_t bytes, const Matrix& to, size_t at) {
  const int error = peer.in->peer_memory().Read(memory, offset, bytes, to.layout, to.data, at);
  if (error == 0) return Status();
  wait_.peer = scope_.GroupRank(peer.rank);
  if (error == ESRCH) return Lost(peer);
  (void)wait_.engine->Move();  // takes the peer's reason if its call has failed
  const std::string error_text = std::string(" (process_vm_readv: ") + std::strerror(error) + ")";
  if (error == EFAULT && CanRead(peer, memory, offset, bytes)) {
    const int own = scope_.GroupRank(scope_.rank);
    return {StatusCode::kInternal, "rank " + std::to_string(own) +
                                       " of the group cannot write to its own matrix" + error_text};
  }
  return {StatusCode::kInternal, "the matrix of rank " + std::to_string(wait_.peer) +
                                     " of the group could not be copied to this rank" + error_text};
}

// Returns whether the kernel can read the peer's side, and so failed to write this one.
bool ZeroCopyAgreement::CanRead(const Peer& peer, const RemoteStretches& memory, size_t offset,
                                size_t bytes) const {
  std::byte block[4096];
  const StridedLayout layout = StridedLayout::Contiguous(sizeof(block));
  for (size_t done = 0; done < bytes; done += sizeof(block)) {
    const size_t now = std::min(bytes - done, sizeof(block));
    if (peer.in->peer_memory().Read(memory, offset + done, now, layout, block, 0) != 0)
      return false;
  }
  return true;
}

Status ZeroCopyAgreement::Lost(const Peer& peer) const {
  return {StatusCode::kPeerLost, "rank " + std::to_string(wait_.peer) + " of the group (process " +
                                     std::to_string(peer.in->peer_memory().process()) +
                                     ") is gone; this rank was in a zero-copy call with it"};
}

}  // namespace brigade
