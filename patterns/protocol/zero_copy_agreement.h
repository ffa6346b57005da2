// ZeroCopyAgreement: how the ranks of a scope that share memory agree that each reads the matrices
// of all others where they lie: in memory of brigade_alloc, which it maps, or in any memory if the
// kernel is the fastest to copy it.
//
// All ranks read or none does, since in the schedule ranks forward and combine what others need.
// Each rank publishes a status word to each other rank (edge.h): where its matrices lie, or that
// they cannot be read. A rank that has found all matrices publishes that it reads, and once all
// have, no rank can leave. A rank that cannot expose its matrices, or has started the call, runs
// the schedule at once, in which each rank sends before it waits: its message tells the others to
// leave, too. A rank that waits finds out whether the calls match, as in other waits.

#ifndef BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_
#define BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_

#include <cstddef>
#include <cstdint>

#include "membuf/rules.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocol.h"
#include "patterns/short_path/call_wait.h"
#include "transport/edge/edge.h"
#include "transport/host_memory/kernel_copy.h"

namespace brigade {

class ZeroCopyAgreement {
 public:
  // REQUIRES: the ranks of the scope share memory, and are kMostRanksOfRound at most; in the
  // schedule each rank sends before it waits.
  explicit ZeroCopyAgreement(const CallRun& run);
  ZeroCopyAgreement(const ZeroCopyAgreement&) = delete;
  ZeroCopyAgreement& operator=(const ZeroCopyAgreement&) = delete;

  OperationStatistics& statistics() { return statistics_; }
  // Publishes where others find the matrices of this rank, or, and returns false, that they cannot
  // be read there.
  bool Offer();
  // Waits for the others. `*agreed` false: all ranks take another protocol. Fails as a call does.
  Status Agree(bool* agreed);

 protected:
  // How far a rank is with a call.
  enum Step : uint64_t {
    kLeft = 1,  // it goes another way
    kOffers,
    kReads,
    kSummed,  // its part of the result may be read
    kDone,    // it reads nothing any more
  };
  struct Peer {
    int rank = 0;  // in the scope
    OutEdge* out = nullptr;
    InEdge* in = nullptr;
    // What it offers to this rank, once all have agreed: where that is mapped,
    const std::byte* data = nullptr;
    StridedLayout layout;
    // or, if `data` is null, where the peer has it: if that is to be combined there are two ranks.
    RemoteStretches memory;
  };

  int peer_count() const { return scope_.size - 1; }
  // In the order of their distance behind this rank, which is one more than `i`.
  const Peer& peer(int i) const { return peers_[i]; }
  void Say(Step step);
  // Until a peer is so far. REQUIRES: all have agreed.
  Status Await(const Peer& peer, Step step);
  // What a peer offers that is not mapped: packed bytes [offset, offset + bytes) to those from `at`
  // on of a matrix. kPeerLost; kInternal: it is not there, or may not be read any more, or the
  // matrix may not be written.
  Status Read(const Peer& peer, size_t offset, size_t bytes, const Matrix& to, size_t at);
  // As CallWait::Break. Others who still read this rank's memory find that it does not count.
  Status Withdraw(const Status& status);

  const CatalogueEntry& entry_;
  const PatternCall& call_;
  const Scope& scope_;

 private:
  // What a notice says, beside how far its rank is.
  struct Place;

  uint64_t WordOf(Step step) const { return (wait_.sequence + 1) << 3 | step; }
  // What one rank reads of another: the number of a portion, or -1: the matrix.
  int PortionFrom(int owner, int reader) const;
  const Matrix& OfferFrom(int owner, int reader) const;
  WireHeader HeaderOf(int owner, int reader) const;
  // Finds the edges. False: messages are under way that must go first.
  bool HasEdges();
  // Whether the kernel then does no more work than the schedule. What is combined it copies first:
  // of more ranks each would copy all contributions to its part, where along a ring it copies one.
  bool MayUseKernel() const;
  // Whether it is the fastest to copy that, in the parts in which it is read.
  bool IsForKernel(const KernelCopyRange& range, const StridedLayout& layout) const;
  bool Locate(const Peer& reader, Place* place) const;
  bool FindAll();
  // Whether all are so far, or some never will be; then `*all` is false.
  bool IsDecided(Step step, bool* all);
  Status AwaitDecision(Step step, bool* all);
  Status Lost() const;
  bool CanRead(const Peer& peer, size_t offset, size_t bytes) const;

  WireHeader header_;  // without portion and byte count
  CallWait wait_;
  OperationStatistics statistics_;
  Peer peers_[rules::kMostRanksOfRound - 1];
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_
