// EagerExecutor: runs small calls at once, where nothing else is under way and every message is one
// segment; or a few segments, if no rank combines or the scope has two ranks. Runs the same
// schedules as Executor: steps in program order, the leading ones first, without cursors, windows
// or bookkeeping of rounds.
//
// How messages travel is the port's: posted (PostPort), or through memory that both sides share
// (EdgePort). A port is a template parameter because a virtual call per step would be felt.

#ifndef BRIGADE_PATTERNS_EAGER_EAGER_EXECUTOR_H_
#define BRIGADE_PATTERNS_EAGER_EAGER_EXECUTOR_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/eager/edge_port.h"
#include "patterns/eager/post_port.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/time_limit.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

template <typename Port>
class EagerExecutor : public Port {
 public:
  // `call` was validated and must outlive the object.
  EagerExecutor(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                const PatternCall& call)
      : Port(engine, group, entry, call) {}

  // The time of the call has begun before.
  void EndBy(const TimeLimit& limit) { this->wait_.limit = limit; }

  // Whether the call can run now. False changes nothing. A receive from point to point
  // may wait a little to see what comes. REQUIRES: the plan lists the protocol of this port.
  bool Fits(const Schedule& schedule);
  // Runs it. REQUIRES: Fits() said yes, just now.
  Status Run(const Schedule& schedule, uint64_t sequence);

  // Of a schedule that fits.
  static constexpr size_t kMostStreams = 5;

 private:
  using Current = typename Port::Current;

  // Whether the longest message of the call is one segment, or few enough. Turns to the first.
  bool IsShort(const Schedule& schedule);
  // Whether all messages of the call are as long as the longest, so that one plan cuts them.
  bool AreAlike();
  // Messages are cut by `plan` from here on. Turns to the first segment.
  void SetPlan(const SegmentPlan& plan);
  // Turns to the next segment; false if there is none.
  bool TurnToNextSegment();
  // From here on the message is that of `block`, as the header says.
  void TurnTo(int block);
  size_t BytesOf(int block) const {
    const Matrix& matrix =
        block < 0 ? this->call_.matrix : BlockOf(this->call_, block, this->scope_.size);
    return matrix.layout.bytes();
  }
  Status RunSegments(const Schedule& schedule);
  Status RunLane(const Lane& lane, int lead);
  Status Await(const Lane& lane, const Step& step);
  Status Fill(const Step& step);
  Status Send(const Step& step);
  std::byte* PayloadAt(const Place& place) const {
    return place.in_stream() ? currents_[place.index].payload : nullptr;
  }

  size_t total_bytes_ = 0;  // of the longest message
  SegmentPlan plan_;        // of all messages
  bool is_cut_ = false;     // by the plan; else they are one segment
  Current currents_[kMostStreams];
};

extern template class EagerExecutor<PostPort>;
extern template class EagerExecutor<EdgePort>;

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_EAGER_EXECUTOR_H_
