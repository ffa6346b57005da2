#include "patterns/direct/mutual_reads.h"

#include <algorithm>
#include <cstddef>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/direct/line_round.h"
#include "patterns/direct/mutual_offers.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/shares.h"
#include "patterns/schedule/topology.h"
#include "patterns/short_path/group_edges.h"
#include "transport/channel.h"

namespace brigade {
namespace {

// Whether ranks combine along a ring, or are two, who have one order only; and in the schedule each
// sends before it waits, as mutual_offers.h has it. Along a tree the root, and whoever has
// children, would wait first.
bool IsRight(const PatternCall& call, const Scope& scope) {
  if (call.locations != nullptr) return false;
  switch (call.pattern) {
    case Pattern::kMultiBroadcast:
      return true;
    case Pattern::kMultiReduce:
      return scope.size == 2 || call.topology.shape != Shape::kCirculant;
    case Pattern::kAllReduce:
      return call.topology.shape == Shape::kDealt ||
             (scope.size == 2 && call.topology.shape == Shape::kHypercube);
    case Pattern::kReduce:
      return scope.size == 2;
    default:
      return false;
  }
}

// Whether messages are long enough to be offered, in the mean.
bool IsLong(const PatternCall& call, int ranks) {
  size_t bytes = 0;
  if (call.portions == nullptr) bytes = call.matrix.layout.bytes();
  for (int q = 0; call.portions != nullptr && q < ranks; ++q) {
    bytes += call.portions[q].layout.bytes();
  }
  return bytes / static_cast<size_t>(ranks) >= rules::kLeastOfferedBytes;
}

// Packed bytes `offset` to `offset + bytes` of one matrix to those of another.
void CopyRange(const StridedLayout& from_layout, const std::byte* from,
               const StridedLayout& to_layout, std::byte* to, size_t offset, size_t bytes) {
  if (to_layout.plain()) return CopyIn(to + offset, from_layout, from, offset, bytes);
  if (from_layout.plain()) return CopyOut(to_layout, to, offset, bytes, from + offset);
  StridedLayout::Cursor source(from_layout, offset);
  StridedLayout::Cursor target(to_layout, offset);
  std::byte block[rules::kCombineBlockBytes];
  for (size_t left = bytes; left > 0;) {
    const StridedLayout::Run run = target.Next();
    size_t now = std::min(run.bytes, left);
    if (now >= rules::kLeastUnequalRunBytes) {
      CopyIn(to + run.memory_offset, &source, from, now);
      target.Advance(now);
    } else {
      now = std::min(sizeof(block), left);
      CopyIn(block, &source, from, now);
      CopyOut(&target, to, now, block);
    }
    left -= now;
  }
}

class MutualReads : public MutualOffers {
 public:
  using MutualOffers::MutualOffers;

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
          Copy(peer(i), portion, 0, portion.layout.bytes());
          CountMessage(call_.portions[scope_.rank].layout.bytes());
        }
        break;
      case Pattern::kMultiReduce:
        Sum(call_.portions[scope_.rank], call_.matrix, 0, call_.matrix.layout.bytes());
        for (int i = 0; i < peer_count(); ++i) {
          CountMessage(call_.portions[peer(i).rank].layout.bytes());
        }
        break;
      case Pattern::kReduce:
        if (scope_.rank == call_.root) {
          Sum(call_.matrix, call_.matrix, 0, call_.matrix.layout.bytes());
        } else {
          CountMessage(call_.matrix.layout.bytes());
        }
        break;
      default:
        BRIGADE_RETURN_IF_ERROR(AllReduce());
    }
    Say(kDone);
    for (int i = 0; i < peer_count(); ++i) BRIGADE_RETURN_IF_ERROR(Await(peer(i), kDone));
    return Status();
  }

  // Each sums up its share, where others read nothing but the sum.
  Status AllReduce() {
    const size_t own = ShareBegin(scope_.rank);
    const size_t own_bytes = ShareBegin(scope_.rank + 1) - own;
    Sum(call_.matrix, call_.matrix, own, own_bytes);
    Say(kSummed);
    for (int i = 0; i < peer_count(); ++i) {
      BRIGADE_RETURN_IF_ERROR(Await(peer(i), kSummed));
      const size_t begin = ShareBegin(peer(i).rank);
      const size_t bytes = ShareBegin(peer(i).rank + 1) - begin;
      Copy(peer(i), call_.matrix, begin, bytes);
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

  void Copy(const Peer& from, const Matrix& to, size_t offset, size_t bytes) {
    CopyRange(from.layout, from.data, to.layout, to.data, offset, bytes);
    ++statistics().copies;
    statistics().bytes_copied += bytes;
  }

  // Packed bytes `offset` to `offset + bytes` of all, from the rank behind this one on, and its own
  // at last: the order of a ring.
  void Sum(const Matrix& own, const Matrix& to, size_t offset, size_t bytes) {
    const size_t elem_bytes = ElementBytes(call_.type);
    const StridedLayout packed = StridedLayout::Contiguous(rules::kPartialSumBytes);
    alignas(64) std::byte partial[rules::kPartialSumBytes];
    const size_t most = peer_count() == 1 ? bytes : rules::kPartialSumBytes;
    for (size_t done = 0; done < bytes;) {
      const size_t now = std::min(most, bytes - done);
      const size_t at = offset + done;
      const auto combine = [&](const MutableOperand& target, const ConstOperand& left,
                               const ConstOperand& right) {
        Combine(call_.op, call_.type, now / elem_bytes, target, left, right);
      };
      ConstOperand sum = OperandOf(0, at);
      for (int i = 1; i < peer_count(); ++i) {
        combine({&packed, partial, 0, nullptr}, sum, OperandOf(i, at));
        sum = {&packed, partial, 0, nullptr};
      }
      combine({&to.layout, to.data, at, nullptr}, sum, {&own.layout, own.data, at, nullptr});
      done += now;
    }
    statistics().combines += static_cast<uint64_t>(peer_count());
    statistics().bytes_combined += static_cast<uint64_t>(peer_count()) * bytes;
  }

  // The one that comes `i`th along the ring.
  ConstOperand OperandOf(int i, size_t offset) const {
    const Peer& from = peer(call_.decreasing ? peer_count() - 1 - i : i);
    return {&from.layout, from.data, offset, nullptr};
  }

  void CountMessage(size_t bytes) {
    ++statistics().messages_sent;
    statistics().bytes_sent += kHeaderBytes + bytes;
  }
};

}  // namespace

bool RunMutualReads(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                    const PatternCall& call, uint64_t sequence, Status* status,
                    OperationStatistics* did) {
  if (IsPair(call.pattern)) return false;
  const Scope& scope = group->scope(call.scope);
  if (!IsRight(call, scope) || !IsLong(call, scope.size) || IsToLookAround(sequence) ||
      !MayGoInLines(*engine, *group, call, scope)) {
    return false;
  }
  MutualReads reads(engine, group, entry, call, sequence);
  bool agreed = false;
  if (!reads.Offer()) return false;
  *status = reads.Agree(&agreed);
  if (status->ok()) {
    if (!agreed) return false;
    *status = reads.Run();
  }
  if (did != nullptr) *did = reads.statistics();
  return true;
}

}  // namespace brigade
