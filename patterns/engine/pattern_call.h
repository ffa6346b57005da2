// PatternCall: one rank's description of one communication, complete enough to start it.

#ifndef BRIGADE_PATTERNS_ENGINE_PATTERN_CALL_H_
#define BRIGADE_PATTERNS_ENGINE_PATTERN_CALL_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "transport/channel.h"

namespace brigade {

// A matrix in user memory. Memory must stay valid, and unless stated otherwise untouched, until the
// operation is done.
struct Matrix {
  std::byte* data = nullptr;
  StridedLayout layout;
};

struct PatternCall {
  Pattern pattern = Pattern::kBarrier;
  // Equal on all ranks of the scope. Ignored by kSend and kReceive.
  ChannelKind scope = ChannelKind::kAll;
  Topology topology;  // equal on all ranks of the scope; ignored by kSend, kReceive, kBarrier
  // Whether a much faster topology may replace a named one if EngineOptions::topology_is_hint,
  // where the result has the same bits; equal on all ranks of the scope.
  bool topology_is_hint = false;
  // kSend, kReceive: the peer's rank in the group. Otherwise the root's rank in the scope, equal on
  // all its ranks; used by kBroadcast, kReduce, kGather and kScatter.
  int root = 0;

  // How long the segments are that the message is cut into, in bytes on the wire, as far as staging
  // memory allows; equal on all ranks of the scope. 0: the library's choice. Never changes a
  // result. Ignored by kSend and kReceive.
  size_t segment_bytes = 0;

  // How long the call may take on this rank, in seconds, until it breaks the group with kTimedOut;
  // 0: any time.
  double timeout_seconds = 0;

  // kSend: what is sent; read only, and free again when the call returns (or the operation is
  // done). kReceive: where it lands. A shorter message is legal and leaves the rest untouched; a
  // longer one is kMismatch. kBroadcast: read at the root, written elsewhere; equal byte counts on
  // all ranks, shapes may differ. kReduce, kAllReduce: own contribution in; the result is written
  // at the root (everywhere); elsewhere it is left as it was. kMultiReduce: where this rank's sum
  // is written. kScan, kExscan: own contribution in; the result of the contributions of ranks 0 to
  // one's own (kExscan: up to the one before; rank 0's matrix is left as it was) out. The operand
  // of the lower ranks is the left one.
  Matrix matrix;

  // kReduce, kAllReduce, kScan, kExscan: own contribution, of as many bytes as the matrix, which is
  // then written only; on ranks without a result the matrix is ignored. The matrix itself, or apart
  // from it. Absent: the matrix holds the contribution. Need not be present on all ranks.
  std::optional<Matrix> source;

  // kReduce, kAllReduce, kMultiReduce, kScan, kExscan; equal on all ranks.
  CombineOp op = CombineOp::kSum;
  Element type = Element::kDouble;
  // kUser: the operation, with its element bytes equal to those of the layouts, and `type` kByte.
  // Element bytes and commutativity are equal on all ranks. Not owned. Its function is not called
  // after the call has returned, or the operation is done.
  const UserOp* user_op = nullptr;
  // Maxima and minima with locations: one per element in packed order, this rank's own in, the
  // winners' out where the result is written. Null without; equally null or not on all ranks.
  int32_t* locations = nullptr;

  // Scope size blocks. Not owned. Blocks may differ in size. But for kAllToAll, block q has
  // equal byte counts on all ranks.
  // kMultiBroadcast: one's own is read, all others are written. kMultiReduce: all are read.
  // kGather: one's own is read; the root writes all others. kScatter: the root reads all but its
  // own; each other rank writes its own. The root's own stays where it is. Of blocks that a rank
  // neither reads nor writes only the byte count matters; their data may be null.
  // kAllToAll: all are written; block q comes from rank q.
  const Matrix* blocks = nullptr;
  // kAllToAll: scope size sent blocks, which are read; sent block q goes to rank q, whose block
  // from this rank has as many bytes. Not owned. No sent block overlaps a block.
  const Matrix* sent = nullptr;
  // kAllToAll: whether all blocks of all ranks have equal byte counts, as on a circulant graph;
  // equal on all ranks.
  bool equal_blocks = false;
  // kMultiBroadcast, kMultiReduce along a ring: messages go to the next lower instead of the next
  // higher rank; equal on all ranks.
  bool decreasing = false;
};

// Returns the bytes of one element of what a call combines; 1 if the call has no valid user
// operation, which CheckMemory refuses.
inline size_t ElementBytes(const PatternCall& call) {
  if (call.op != CombineOp::kUser) return ElementBytes(call.type);
  return call.user_op == nullptr || call.user_op->element_bytes == 0 ? 1
                                                                     : call.user_op->element_bytes;
}

// Returns whether a call has a source that its pattern reads.
inline bool HasSource(const PatternCall& call) {
  return call.source && (call.pattern == Pattern::kReduce || call.pattern == Pattern::kAllReduce ||
                         IsScan(call.pattern));
}

// Returns where the contribution of this rank to a reduce, an all-reduce or a scan is.
inline const Matrix& ContributionOf(const PatternCall& call) {
  return call.source ? *call.source : call.matrix;
}

// Returns whether the contributions of a call that combines must be combined in the order of ranks.
inline bool IsInRankOrder(const PatternCall& call) {
  return call.op == CombineOp::kUser && call.user_op != nullptr && !call.user_op->commutative;
}

// Combines as the call says.
inline void Combine(const PatternCall& call, size_t elems, const MutableOperand& dst,
                    const ConstOperand& left, const ConstOperand& right) {
  if (call.op == CombineOp::kUser) return Combine(*call.user_op, elems, dst, left, right);
  Combine(call.op, call.type, elems, dst, left, right);
}

// The matrix of the steps' block `block`. `ranks`: of the call's scope.
inline const Matrix& BlockOf(const PatternCall& call, int block, int ranks) {
  return block < ranks ? call.blocks[block] : call.sent[block - ranks];
}

// The channel that carries a call.
inline ChannelKind ChannelOf(const PatternCall& call) {
  return IsPair(call.pattern) ? ChannelKind::kPointToPoint : call.scope;
}

// Counts of the work of one operation on this rank.
struct OperationStatistics {
  uint64_t messages_sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t segments = 0;  // chunks' worth of own message, as cut
  // User memory to staging or back, in segments; user memory to a posted buffer; memory of another
  // rank to user memory, or to a block that is combined; or user memory to user memory.
  uint64_t copies = 0;
  uint64_t bytes_copied = 0;  // the same in bytes
  uint64_t combines = 0;      // segments combined
  uint64_t bytes_combined = 0;
  uint64_t overflow_segments = 0;  // segments that went, at least in part, through ordinary memory
  // Held at once; a short operation's are counted until they are sent, not until they are back.
  size_t peak_staging_bytes = 0;
  uint64_t wait_ns = 0;  // spent waiting for others or for a chunk
  // The name of the protocol that ran a blocking call, otherwise null: others are pipelined.
  const char* protocol = nullptr;

  void CountCopy(size_t bytes) {
    ++copies;
    bytes_copied += bytes;
  }
  // Adds the counters of another operation that ran at the same time.
  OperationStatistics& operator+=(const OperationStatistics& other) {
    messages_sent += other.messages_sent;
    bytes_sent += other.bytes_sent;
    segments += other.segments;
    copies += other.copies;
    bytes_copied += other.bytes_copied;
    combines += other.combines;
    bytes_combined += other.bytes_combined;
    overflow_segments += other.overflow_segments;
    peak_staging_bytes += other.peak_staging_bytes;
    wait_ns += other.wait_ns;
    return *this;
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_PATTERN_CALL_H_
