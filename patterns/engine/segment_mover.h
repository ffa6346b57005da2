// SegmentMover: moves the bytes of one call's segments between user memory and staging memory, and
// counts them.

#ifndef BRIGADE_PATTERNS_ENGINE_SEGMENT_MOVER_H_
#define BRIGADE_PATTERNS_ENGINE_SEGMENT_MOVER_H_

#include <cstddef>

#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/simulated_processor.h"

namespace brigade {

// How messages of a pattern are cut. `elem_bytes` and `wire_bytes`: of one element, in user memory
// and on the wire; `ranks`: of the scope; `wanted_bytes`: as in PlanSegments.
inline CutRule RuleOf(const CatalogueEntry& entry, const SegmentSettings& settings,
                      size_t elem_bytes, size_t wire_bytes, int ranks, size_t wanted_bytes) {
  const bool each_alone = entry.pattern == Pattern::kAllToAll;
  return {settings, IsPair(entry.pattern), entry.multi, each_alone, elem_bytes, wire_bytes,
          ranks,    wanted_bytes};
}

class SegmentMover {
 public:
  // `processor`: is notified of work first; null for processors that exist.
  explicit SegmentMover(SimulatedProcessor* processor) : processor_(processor) {}

  // `call` must outlive the mover, or be replaced by another Reset. `shares_memory`: what is copied
  // in is read where it lies.
  void Reset(const CatalogueEntry& entry, const PatternCall* call, bool shares_memory);
  // The longest segment that will be combined.
  void SetSegmentBytes(size_t bytes) { chunk_layout_ = StridedLayout::Contiguous(bytes); }

  // How the call's messages are cut; `ranks`: of its scope.
  CutRule Rule(const CatalogueEntry& entry, const SegmentSettings& settings, int ranks) const {
    return RuleOf(entry, settings, elem_bytes_, wire_elem_bytes_, ranks, call_->segment_bytes);
  }
  size_t WireBytes(size_t value_bytes) const {
    return wire_elem_bytes_ == elem_bytes_ ? value_bytes
                                           : value_bytes / elem_bytes_ * wire_elem_bytes_;
  }

  // The matrix at a place of a call that is not in a stream. Where no blocks are given, they are
  // ranges of the call's.
  static const Matrix& MatrixAt(const PatternCall& call, const Place& place) {
    if (place.kind == Place::kSent) return call.sent[place.index];
    if (place.kind == Place::kBlock && call.blocks != nullptr) {
      return call.blocks[place.index];
    }
    const bool is_source = place.kind == Place::kSource || place.kind == Place::kSourceBlock;
    return is_source ? ContributionOf(call) : call.matrix;
  }
  const Matrix& MatrixAt(const Place& place) const { return MatrixAt(*call_, place); }

  // Does what `step`, a kCopy or kCombine, does to `range`, given the bytes of its places; null
  // where a place is user memory.
  void Apply(const Step& step, std::byte* dst, const std::byte* left, const std::byte* right,
             const SegmentPlan::Range& range) {
    if (step.opcode == Opcode::kCombine) {
      Combine(step.dst, dst, step.left, left, step.right, right, range);
    } else if (dst == nullptr && left == nullptr) {
      CopyInUserMemory(step.dst, step.left, range);
    } else if (dst == nullptr) {
      CopyOut(step.dst, range, left);
    } else if (left == nullptr) {
      CopyIn(dst, step.left, range);
    } else {
      CopyAcross(dst, left, range);
    }
  }

  OperationStatistics statistics;

 private:
  void CopyIn(std::byte* payload, const Place& source, const SegmentPlan::Range& range);
  void CopyOut(const Place& target, const SegmentPlan::Range& range, const std::byte* payload);
  // From one matrix to another; counts as a copy.
  void CopyInUserMemory(const Place& target, const Place& source, const SegmentPlan::Range& range);
  // From one slot to another; counts as a copy.
  void CopyAcross(std::byte* to, const std::byte* from, const SegmentPlan::Range& range);
  void Combine(const Place& dst, std::byte* dst_payload, const Place& left,
               const std::byte* left_payload, const Place& right, const std::byte* right_payload,
               const SegmentPlan::Range& range);
  template <typename Operand, typename Payload>
  Operand OperandAt(const Place& place, Payload* payload, const SegmentPlan::Range& range) const;

  // Whether the bytes are to be moved, once a simulated processor has taken its time for it.
  bool MayCopy(const std::byte* to, const std::byte* from, const StridedLayout& layout,
               size_t bytes) const {
    return processor_ == nullptr || processor_->Copy(to, from, bytes, layout.run_bytes());
  }

  SimulatedProcessor* const processor_;
  const PatternCall* call_ = nullptr;
  bool shares_memory_ = false;
  // Of one element; without arithmetic only bytes count.
  size_t elem_bytes_ = 1;
  // The same on the wire: its location, if there is one, follows the values.
  size_t wire_elem_bytes_ = 1;
  StridedLayout chunk_layout_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_SEGMENT_MOVER_H_
