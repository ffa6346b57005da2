#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocols.h"
#include "patterns/protocol/zero_copy_agreement.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/shares.h"
#include "patterns/schedule/topology.h"
#include "patterns/short_path/group_edges.h"
#include "transport/channel.h"

namespace brigade {
namespace {

// Returns whether the schedule combines in the order of the ring, as Sum does (two ranks have one
// order only), and each rank sends before it waits. Along a tree, inner ranks would wait first.
bool KeepsOrder(const Plan& plan) {
  const Shape shape = plan.choice.topology.shape;
  const int ranks = plan.scope->size;
  switch (plan.entry->pattern) {
    case Pattern::kMultiBroadcast:
      return true;
    case Pattern::kMultiReduce:
      return ranks == 2 || shape != Shape::kCirculant;
    case Pattern::kAllReduce:
      return shape == Shape::kDealt || (ranks == 2 && shape == Shape::kHypercube);
    default:
      return false;
  }
}

// Returns whether the ranks expose enough, in the mean.
bool IsLong(const ByteCounts& counts, int ranks) {
  return counts.total / static_cast<size_t>(ranks) >= rules::kLeastExposedBytes;
}

// Returns whether two matrices may have a byte in common. Blocks of one matrix with disjoint rows
// have none.
bool MayOverlap(const Matrix& a, const Matrix& b) {
  if (a.layout.bytes() == 0 || b.layout.bytes() == 0) return false;
  const auto first = reinterpret_cast<uintptr_t>(a.data);
  const auto second = reinterpret_cast<uintptr_t>(b.data);
  if (second < first) return MayOverlap(b, a);
  const auto stride = [](const StridedLayout& layout) {
    return static_cast<size_t>(layout.ld()) * layout.elem_bytes();
  };
  const auto column = [](const StridedLayout& layout) {
    return static_cast<size_t>(layout.rows()) * layout.elem_bytes();
  };
  const size_t apart = second - first;
  const size_t last_column = static_cast<size_t>(a.layout.cols() - 1) * stride(a.layout);
  if (apart >= last_column + column(a.layout)) return false;
  if (stride(a.layout) != stride(b.layout)) return true;
  const size_t rows_apart = apart % stride(a.layout);
  return rows_apart < column(a.layout) || rows_apart + column(b.layout) > stride(a.layout);
}

// Returns whether this rank would write its sum over a contribution that another rank still reads.
bool OverwritesExposed(const PatternCall& call, const Scope& scope) {
  if (call.pattern != Pattern::kMultiReduce) return false;
  for (int q = 0; q < scope.size; ++q) {
    if (q != scope.rank && MayOverlap(call.matrix, call.portions[q])) return true;
  }
  return false;
}

class ZeroCopyRead : public ZeroCopyAgreement {
 public:
  using ZeroCopyAgreement::ZeroCopyAgreement;

  // REQUIRES: all have agreed.
  Status Run() {
    const Status status = ReadAll();
    return status.ok() ? status : Withdraw(status);
  }

 private:
  Status ReadAll() {
    statistics().pieces = 1;
    switch (entry_.pattern) {
      case Pattern::kMultiBroadcast:
        for (int i = 0; i < peer_count(); ++i) {
          const Matrix& portion = call_.portions[peer(i).rank];
          BRIGADE_RETURN_IF_ERROR(Copy(peer(i), portion, 0, portion.layout.bytes()));
          CountMessage(call_.portions[scope_.rank].layout.bytes());
        }
        break;
      case Pattern::kMultiReduce:
        BRIGADE_RETURN_IF_ERROR(
            Sum(call_.portions[scope_.rank], call_.matrix, 0, call_.matrix.layout.bytes()));
        for (int i = 0; i < peer_count(); ++i) {
          CountMessage(call_.portions[peer(i).rank].layout.bytes());
        }
        break;
      default:
        BRIGADE_RETURN_IF_ERROR(AllReduce());
    }
    Publish(kDone);
    for (int i = 0; i < peer_count(); ++i) BRIGADE_RETURN_IF_ERROR(Await(peer(i), kDone));
    return Status();
  }

  // Each sums up its share, where others read nothing but the sum.
  Status AllReduce() {
    const size_t own = ShareBegin(scope_.rank);
    const size_t own_bytes = ShareBegin(scope_.rank + 1) - own;
    BRIGADE_RETURN_IF_ERROR(Sum(call_.matrix, call_.matrix, own, own_bytes));
    Publish(kSummed);
    for (int i = 0; i < peer_count(); ++i) {
      BRIGADE_RETURN_IF_ERROR(Await(peer(i), kSummed));
      const size_t begin = ShareBegin(peer(i).rank);
      const size_t bytes = ShareBegin(peer(i).rank + 1) - begin;
      BRIGADE_RETURN_IF_ERROR(Copy(peer(i), call_.matrix, begin, bytes));
      CountMessage(bytes);
      CountMessage(own_bytes);
    }
    return Status();
  }

  size_t ShareBegin(int share) const {
    const size_t elem_bytes = ElementBytes(call_.type);
    return brigade::ShareBegin(call_.matrix.layout.bytes() / elem_bytes, scope_.size, share) *
           elem_bytes;
  }

  Status Copy(const Peer& from, const Matrix& to, size_t offset, size_t bytes) {
    if (bytes == 0) return Status();
    CountCopy(bytes);
    if (from.data == nullptr) return Read(from, offset, bytes, to, offset);
    CopyAcross(from.layout, from.data, to.layout, to.data, offset, bytes);
    return Status();
  }

  // Packed bytes `offset` to `offset + bytes` of all, from the rank behind this one on, and its own
  // at last: the order of a ring.
  Status Sum(const Matrix& own, const Matrix& to, size_t offset, size_t bytes) {
    if (bytes == 0) return Status();
    const size_t elem_bytes = ElementBytes(call_.type);
    alignas(64) std::byte partial_bytes[rules::kPartialSumBytes];
    const Matrix partial{partial_bytes, StridedLayout::Contiguous(rules::kPartialSumBytes)};
    const bool at_once = peer_count() == 1 && peer(0).data != nullptr;
    for (size_t done = 0; done < bytes;) {
      const size_t now = at_once ? bytes : std::min(rules::kPartialSumBytes, bytes - done);
      const size_t at = offset + done;
      const auto combine = [&](const MutableOperand& target, const ConstOperand& left,
                               const ConstOperand& right) {
        Combine(call_.op, call_.type, now / elem_bytes, target, left, right);
      };
      ConstOperand sum{&Along(0).layout, Along(0).data, at, nullptr};
      if (sum.base == nullptr) {
        CountCopy(now);
        BRIGADE_RETURN_IF_ERROR(Read(Along(0), at, now, partial, 0));
        sum = {&partial.layout, partial.data, 0, nullptr};
      }
      for (int i = 1; i < peer_count(); ++i) {
        combine({&partial.layout, partial.data, 0, nullptr}, sum,
                {&Along(i).layout, Along(i).data, at, nullptr});
        sum = {&partial.layout, partial.data, 0, nullptr};
      }
      combine({&to.layout, to.data, at, nullptr}, sum, {&own.layout, own.data, at, nullptr});
      done += now;
    }
    statistics().combines += static_cast<uint64_t>(peer_count());
    statistics().bytes_combined += static_cast<uint64_t>(peer_count()) * bytes;
    return Status();
  }

  // The one that comes `i`th along the ring.
  const Peer& Along(int i) const {
    return peer(entry_.multi && call_.decreasing ? peer_count() - 1 - i : i);
  }

  void CountCopy(size_t bytes) {
    ++statistics().copies;
    statistics().bytes_copied += bytes;
  }

  // What one rank reads of another counts as a message of that one, which the header is of.
  void CountMessage(size_t bytes) {
    if (bytes == 0) return;
    ++statistics().messages_sent;
    statistics().bytes_sent += kHeaderBytes + bytes;
  }
};

bool Applies(const GroupState& group, const Plan& plan) {
  const Scope& scope = *plan.scope;
  return plan.kind != ChannelKind::kPointToPoint && group.edges != nullptr &&
         scope.shares_memory() && plan.config->capabilities->line_bytes > 0 && scope.size >= 2 &&
         scope.size <= rules::kMostRanksOfZeroCopy && plan.signature.piece_bytes == 0 &&
         plan.elem_bytes == plan.wire_elem_bytes && KeepsOrder(plan) &&
         IsLong(plan.signature.Greatest(plan.config->settings), scope.size);
}

Outcome Run(CallRun* run) {
  const Scope& scope = *run->plan.scope;
  if (!MayWriteAtOnce(*run) ||
      !IsLong(ByteCounts::Of(*run->plan.entry, run->call, scope.size), scope.size) ||
      OverwritesExposed(run->call, scope)) {
    return Outcome::kNotNow;
  }
  WireHeader header = run->plan.header;
  header.sequence = static_cast<uint32_t>(*run->sequence);
  header.total_bytes = run->call.matrix.layout.bytes();
  run->group->history(run->plan.kind)->Put(header);
  ZeroCopyRead read(*run);
  if (!read.Expose()) return Outcome::kNotNow;
  bool agreed = false;
  ++*run->sequence;  // a rank that compares calls finds this one begun
  run->status = read.Agree(&agreed);
  if (run->status.ok() && !agreed) {
    --*run->sequence;
    return Outcome::kNotNow;
  }
  if (run->status.ok()) run->status = read.Run();
  if (run->did != nullptr) *run->did = read.statistics();
  return Outcome::kDone;
}

}  // namespace

const Protocol kZeroCopyRead = {"zero-copy read", "all ranks can read the matrices of all others",
                                "sender 0, receiver 1 or a combine", Applies, Run};

}  // namespace brigade
