#include "patterns/engine/segment_mover.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "membuf/copy_bytes.h"
#include "membuf/pack.h"
#include "patterns/trace/trace.h"

namespace brigade {

void SegmentMover::Reset(const CatalogueEntry& entry, const PatternCall* call, bool shares_memory) {
  call_ = call;
  shares_memory_ = shares_memory;
  elem_bytes_ = entry.combines ? ElementBytes(*call) : 1;
  wire_elem_bytes_ = elem_bytes_ + (call->locations != nullptr ? sizeof(int32_t) : 0);
  statistics = OperationStatistics();
}

void SegmentMover::CopyIn(std::byte* payload, const Place& source,
                          const SegmentPlan::Range& range) {
  const TraceSpan span(TraceKind::kCopyIn, range.bytes);
  const Matrix& matrix = MatrixAt(source);
  statistics.CountCopy(range.bytes);
  if (!MayCopy(payload, matrix.data, matrix.layout, WireBytes(range.bytes))) return;
  if (shares_memory_) {
    PushIn(payload, matrix.layout, matrix.data, range.offset, range.bytes);
  } else {
    brigade::CopyIn(payload, matrix.layout, matrix.data, range.offset, range.bytes);
  }
  if (call_->locations != nullptr) {
    std::memcpy(payload + range.bytes, call_->locations + range.offset / elem_bytes_,
                range.bytes / elem_bytes_ * sizeof(int32_t));
  }
}

void SegmentMover::CopyOut(const Place& target, const SegmentPlan::Range& range,
                           const std::byte* payload) {
  const TraceSpan span(TraceKind::kCopyOut, range.bytes);
  const Matrix& matrix = MatrixAt(target);
  statistics.CountCopy(range.bytes);
  if (!MayCopy(matrix.data, payload, matrix.layout, WireBytes(range.bytes))) return;
  brigade::CopyOut(matrix.layout, matrix.data, range.offset, range.bytes, payload);
  if (call_->locations != nullptr) {
    std::memcpy(call_->locations + range.offset / elem_bytes_, payload + range.bytes,
                range.bytes / elem_bytes_ * sizeof(int32_t));
  }
}

void SegmentMover::CopyInUserMemory(const Place& target, const Place& source,
                                    const SegmentPlan::Range& range) {
  const TraceSpan span(TraceKind::kCopyOut, range.bytes);
  const Matrix& to = MatrixAt(target);
  const Matrix& from = MatrixAt(source);
  statistics.CountCopy(range.bytes);
  if (!MayCopy(to.data, from.data, to.layout, range.bytes)) return;
  brigade::CopyAcross(from.layout, from.data, to.layout, to.data, range.offset, range.bytes);
}

void SegmentMover::CopyAcross(std::byte* to, const std::byte* from,
                              const SegmentPlan::Range& range) {
  const TraceSpan span(TraceKind::kCopyIn, range.bytes);
  statistics.CountCopy(range.bytes);
  const size_t bytes = WireBytes(range.bytes);
  if (MayCopy(to, from, chunk_layout_, bytes)) CopyBytes(to, from, bytes);
}

// `Operand` is ConstOperand or MutableOperand, `Payload` its byte.
template <typename Operand, typename Payload>
Operand SegmentMover::OperandAt(const Place& place, Payload* payload,
                                const SegmentPlan::Range& range) const {
  const bool located = call_->locations != nullptr;
  if (payload != nullptr) {
    using Location = decltype(*Operand::locations);
    auto* locations =
        located ? reinterpret_cast<std::remove_reference_t<Location>*>(payload + range.bytes)
                : nullptr;
    return {&chunk_layout_, payload, 0, locations};
  }
  const Matrix& matrix = MatrixAt(place);
  return {&matrix.layout, matrix.data, range.offset,
          located ? call_->locations + range.offset / elem_bytes_ : nullptr};
}

void SegmentMover::Combine(const Place& dst, std::byte* dst_payload, const Place& left,
                           const std::byte* left_payload, const Place& right,
                           const std::byte* right_payload, const SegmentPlan::Range& range) {
  const TraceSpan span(TraceKind::kCombine, range.bytes);
  ++statistics.combines;
  statistics.bytes_combined += range.bytes;
  const auto to = OperandAt<MutableOperand>(dst, dst_payload, range);
  const auto one = OperandAt<ConstOperand>(left, left_payload, range);
  const auto other = OperandAt<ConstOperand>(right, right_payload, range);
  if (processor_ != nullptr) {
    const size_t run_bytes =
        std::min({to.layout->run_bytes(), one.layout->run_bytes(), other.layout->run_bytes()});
    const size_t bytes = WireBytes(range.bytes);
    if (!processor_->Combine(to.base, one.base, other.base, bytes, run_bytes)) return;
  }
  brigade::Combine(*call_, range.bytes / elem_bytes_, to, one, other);
}

}  // namespace brigade
