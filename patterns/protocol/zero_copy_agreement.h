// ZeroCopyAgreement: how the ranks of a scope that share memory agree that each reads the matrices
// of all others where they lie: in memory of brigade_alloc, which it maps, or in any memory if the
// call combines nothing and the kernel is the fastest to copy it.
//
// All ranks read or none does, since in the schedule ranks forward and combine what others need.
// Each rank publishes a status word to each other rank (edge.h): where its matrices lie, or that
// they cannot be read. A rank that has found all matrices publishes that it reads, and once all
// have, no rank can leave. A rank that cannot expose its matrices, or has started the call, runs
// the schedule at once, in which each rank sends before it waits: its message makes the others
// leave, too. A rank that waits finds out whether the calls match, as in other waits.

#ifndef BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_
#define BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/eager/call_wait.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocol.h"
#include "patterns/rules.h"
#include "transport/edge/edge.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class ZeroCopyAgreement {
 public:
  // REQUIRES: the ranks of the scope share memory, and are kMostRanksOfZeroCopy at most; in the
  // schedule each rank sends before it waits.
  explicit ZeroCopyAgreement(const CallRun& run);
  ZeroCopyAgreement(const ZeroCopyAgreement&) = delete;
  ZeroCopyAgreement& operator=(const ZeroCopyAgreement&) = delete;

  OperationStatistics& statistics() { return statistics_; }
  // Publishes where others find the matrices of this rank, or, and returns false, that they cannot
  // be read there.
  bool Expose();
  // Waits for the others. `*agreed` false: all ranks take another protocol. Fails as a call does.
  Status Agree(bool* agreed);

 protected:
  // How far a rank is with a call: its status word.
  enum Step : uint64_t {
    kDeclined = 1,  // it takes another protocol
    kExposed,
    kReads,
    kExposedSum,  // the block that it has combined may be read
    kDone,        // it reads nothing any more
  };
  // A matrix of another rank that this rank reads.
  struct Readable {
    const std::byte* data = nullptr;  // if it is mapped
    StridedLayout layout;
    // Otherwise, where the kernel reads it, of calls that do not combine.
    RemoteStretches memory;
  };
  struct Peer {
    int rank = 0;  // in the scope
    OutEdge* out = nullptr;
    InEdge* in = nullptr;
    // Once all have agreed: its contribution, and its result, which is apart from that if the rank
    // has a source. Of a multi-broadcast both are its block.
    Readable operand;
    Readable result;
  };

  // Returns the matrix that `owner` has for `reader`, of which one is this rank: where it is read,
  // or, of another owner, where it goes.
  const Matrix& MatrixFor(int owner, int reader) const;
  int peer_count() const { return scope_.size - 1; }
  // Returns the rank `i` + 1 places behind this one.
  const Peer& peer(int i) const { return peers_[i]; }
  const Peer& PeerOf(int rank) const {
    return peers_[(rank - scope_.rank - 1 + scope_.size) % scope_.size];
  }
  void Publish(Step step);
  // Waits until a peer has published `step`. REQUIRES: all have agreed.
  Status Await(const Peer& peer, Step step);
  // Has the kernel copy packed bytes [offset, offset + bytes) of a peer's matrix, which lies at
  // `memory`, to those from `at` on of `to`. kPeerLost; kInternal: the peer's memory is gone, or
  // the kernel refuses the copy.
  Status Read(const Peer& peer, const RemoteStretches& memory, size_t offset, size_t bytes,
              const Matrix& to, size_t at);
  // Breaks the group, as CallWait::Break. Ranks that still read this rank's memory discard the
  // copy.
  Status Withdraw(const Status& status);

  const CatalogueEntry& entry_;
  const PatternCall& call_;
  const Scope& scope_;

 private:
  // Where a matrix lies: the text beside a status word.
  struct Place;

  uint64_t WordOf(Step step) const { return (wait_.sequence + 1) << 3 | step; }
  // Returns the block of `owner` that `reader` reads; -1: the matrix.
  int BlockFrom(int owner, int reader) const;
  WireHeader HeaderOf(int owner, int reader) const;
  // Finds the edges. False: messages are under way that must go first.
  bool HasEdges();
  // Returns whether the kernel may read the matrices. It would copy each operand of a combine
  // first, as the schedule does.
  bool MayUseKernel() const { return !entry_.combines; }
  bool Locate(const Peer& reader, Place* place) const;
  // Finds a matrix that lies in `memory` of a peer, at `offset` of a segment; 0: in none. `to`:
  // where it is copied.
  bool Find(const Peer& peer, const SharedSegment::Address& segment, const RemoteStretches& memory,
            uint64_t offset, const StridedLayout& to, bool is_copied, Readable* found) const;
  bool FindAll();
  // Returns whether all ranks have published `step`, or one never will; then `*all` is false.
  bool IsDecided(Step step, bool* all);
  Status AwaitDecision(Step step, bool* all);
  // Finds out whether all ranks read.
  Status Decide(bool* agreed);
  Status Lost(const Peer& peer) const;
  bool CanRead(const Peer& peer, const RemoteStretches& memory, size_t offset, size_t bytes) const;

  WireHeader header_;  // without block and byte count
  CallWait wait_;
  OperationStatistics statistics_;
  Peer peers_[rules::kMostRanksOfZeroCopy - 1];
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_ZERO_COPY_AGREEMENT_H_
