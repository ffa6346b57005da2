#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocols.h"
#include "patterns/protocol/zero_copy_agreement.h"
#include "patterns/rules.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/read_schedule.h"
#include "patterns/schedule/shares.h"
#include "patterns/trace/trace.h"

namespace brigade {
namespace {

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
    if (q != scope.rank && MayOverlap(call.matrix, call.blocks[q])) return true;
  }
  return false;
}

// Runs a plan's read schedule.
class ZeroCopyRead : public ZeroCopyAgreement {
 public:
  explicit ZeroCopyRead(const CallRun& run)
      : ZeroCopyAgreement(run), schedule_(run.plan.read_schedule) {}

  // REQUIRES: all have agreed.
  Status Run() {
    const Status status = CatchOutOfMemory([&] { return RunSteps(); });
    return status.ok() ? status : Withdraw(status);
  }

 private:
  // Packed bytes [begin, begin + bytes) of a matrix.
  struct Range {
    const Matrix& matrix;
    size_t begin;
    size_t bytes;
  };

  Status RunSteps() {
    statistics().segments = 1;
    int exposures = 0;
    for (const ReadStep& step : schedule_.steps) {
      switch (step.opcode) {
        case ReadStep::kExpose:
          if (++exposures > 1) Publish(kExposedSum);  // the first is what all have agreed on
          break;
        case ReadStep::kRead:
          if (step.block == scope_.rank) {
            CopyKeptBlock();
            break;
          }
          BRIGADE_RETURN_IF_ERROR(AwaitExposure(step.block, exposures));
          BRIGADE_RETURN_IF_ERROR(Copy(PeerOf(step.block), RangeOf(step.block)));
          CountMessage(entry_.multi ? MatrixFor(scope_.rank, step.block).layout.bytes()
                                    : RangeOf(scope_.rank).bytes);
          break;
        case ReadStep::kCombine:
          for (const int rank : schedule_.order) {
            BRIGADE_RETURN_IF_ERROR(AwaitExposure(rank, exposures));
            CountMessage(RangeOf(rank).bytes);
          }
          Combine(RangeOf(step.block));
          break;
        case ReadStep::kDone:
          Publish(kDone);
          for (int i = 0; i < peer_count(); ++i) BRIGADE_RETURN_IF_ERROR(Await(peer(i), kDone));
          break;
      }
    }
    return Status();
  }

  // Waits until a rank has exposed so often. Once all have agreed, each has exposed once.
  Status AwaitExposure(int rank, int exposures) {
    return exposures > 1 ? Await(PeerOf(rank), kExposedSum) : Status();
  }

  Range RangeOf(int block) const {
    if (entry_.multi) {
      return {call_.blocks[block], 0, call_.blocks[block].layout.bytes()};
    }
    const size_t begin = ShareBegin(block);
    return {call_.matrix, begin, ShareBegin(block + 1) - begin};
  }
  size_t ShareBegin(int share) const {
    const size_t elem_bytes = ElementBytes(call_);
    return brigade::ShareBegin(call_.matrix.layout.bytes() / elem_bytes, scope_.size, share) *
           elem_bytes;
  }

  Status Copy(const Peer& from, const Range& to) {
    if (to.bytes == 0) return Status();
    statistics().CountCopy(to.bytes);
    const TraceSpan span(TraceKind::kCopyOut, to.bytes, scope_.GroupRank(from.rank));
    const Readable& result = from.result;
    if (result.data == nullptr) {
      return Read(from, result.memory, to.begin, to.bytes, to.matrix, to.begin);
    }
    CopyAcross(result.layout, result.data, to.matrix.layout, to.matrix.data, to.begin, to.bytes);
    return Status();
  }

  // Copies the block of an all-to-all that stays on this rank.
  void CopyKeptBlock() {
    const Matrix& from = MatrixFor(scope_.rank, scope_.rank);
    const Range to = RangeOf(scope_.rank);
    if (to.bytes == 0) return;
    statistics().CountCopy(to.bytes);
    const TraceSpan span(TraceKind::kCopyOut, to.bytes, scope_.GroupRank(scope_.rank));
    CopyAcross(from.layout, from.data, to.matrix.layout, to.matrix.data, 0, to.bytes);
  }

  // Combines the peers' contributions to a range and this rank's own, a part at a time.
  void Combine(const Range& own) {
    if (own.bytes == 0) return;
    const TraceSpan span(TraceKind::kCombine, own.bytes);
    const Matrix& to = call_.matrix;
    const Matrix& last = entry_.multi ? own.matrix : ContributionOf(call_);
    const size_t elem_bytes = ElementBytes(call_);
    alignas(64) std::byte partial_bytes[rules::kPartialSumBytes];
    const Matrix partial{partial_bytes, StridedLayout::Contiguous(rules::kPartialSumBytes)};
    const Peer& first = PeerOf(schedule_.order[0]);
    const bool at_once = peer_count() == 1;
    const size_t part_bytes = rules::kPartialSumBytes / elem_bytes * elem_bytes;
    for (size_t done = 0; done < own.bytes;) {
      const size_t now = at_once ? own.bytes : std::min(part_bytes, own.bytes - done);
      const size_t at = own.begin + done;
      const auto combine = [&](const MutableOperand& target, const ConstOperand& left,
                               const ConstOperand& right) {
        brigade::Combine(call_, now / elem_bytes, target, left, right);
      };
      ConstOperand sum{&first.operand.layout, first.operand.data, at, nullptr};
      for (int i = 1; i < peer_count(); ++i) {
        const Readable& next = PeerOf(schedule_.order[static_cast<size_t>(i)]).operand;
        combine({&partial.layout, partial.data, 0, nullptr}, sum,
                {&next.layout, next.data, at, nullptr});
        sum = {&partial.layout, partial.data, 0, nullptr};
      }
      combine({&to.layout, to.data, at, nullptr}, sum, {&last.layout, last.data, at, nullptr});
      done += now;
    }
    statistics().combines += static_cast<uint64_t>(peer_count());
    statistics().bytes_combined += static_cast<uint64_t>(peer_count()) * own.bytes;
  }

  // Counts bytes that another rank reads here as a message of this rank, with its header.
  void CountMessage(size_t bytes) {
    if (bytes == 0) return;
    ++statistics().messages_sent;
    statistics().bytes_sent += kHeaderBytes + bytes;
  }

  const ReadSchedule& schedule_;
};

Outcome Run(CallRun* run) {
  const Scope& scope = *run->plan.scope;
  if (!run->engine->IsIdle() ||
      !ByteCounts::Of(*run->plan.entry, run->call, scope.size).IsLongToExpose(scope.size) ||
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

static_assert(rules::kMostRanksOfZeroCopy == 8 && rules::kLeastExposedBytes == size_t{32} << 10,
              "the condition has both values");
const Protocol kZeroCopyRead = {
    "zero-copy read",
    "up to 8 ranks share memory and can read the matrices of all others, of 32 KiB or more on "
    "average",
    "sender 0, receiver 1 or a combine",
    /*over_edges=*/true,
    [](const Plan& plan) { return !plan.read_schedule.steps.empty(); },
    Run};

}  // namespace brigade
