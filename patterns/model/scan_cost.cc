#include "patterns/model/scan_cost.h"

#include "patterns/model/cost_rounds.h"

namespace brigade {
SegmentTimes ScanTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const bool exclusive = query.pattern == Pattern::kExscan;
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kCombineTarget, segment.bytes);
  const double out = crowd * steps.CopyOut(ChunkRole::kCombineTarget, segment.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, segment.bytes);
  const int last = query.ranks - 1;
  Rounds rounds(steps, query.ranks, segment, Ports::Buckets::kFull);
  if (query.topology.shape != Shape::kHypercube) {
    rounds.Work(0, in);
    for (int r = 1; r <= last; ++r) {
      rounds.Send(r - 1, r);
      rounds.Receive(r);
      if (r < last || !exclusive) rounds.Work(r, combine);
    }
    for (int r = 1; r <= last; ++r) {
      if (r < last || exclusive) rounds.Work(r, out);
    }
    return rounds.Result();
  }
  for (int r = 0; r < last; ++r) rounds.Work(r, in);
  for (int distance = 1; distance <= last; distance *= 2) {
    for (int r = distance; r <= last; ++r) rounds.Send(r - distance, r);
    for (int r = distance; r <= last; ++r) {
      rounds.Receive(r);
      const bool is_sent_again = r + 2 * distance <= last;
      if (!exclusive || is_sent_again) rounds.Work(r, combine);
      if (exclusive) rounds.Work(r, distance == 1 ? out : combine);
    }
  }
  return rounds.Result();
}

}  // namespace brigade
