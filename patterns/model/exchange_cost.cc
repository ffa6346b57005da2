#include "patterns/model/exchange_cost.h"

#include <algorithm>

#include "patterns/catalogue/compilers.h"
#include "patterns/model/cost_rounds.h"
#include "patterns/model/ring_cost.h"
#include "patterns/model/tree_cost.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// A round in which each rank receives from one partner, or from none if that is negative, and works
// for `after_us` then.
template <typename Partner>
void Exchange(int ranks, const Partner& partner, double after_us, Rounds* rounds) {
  for (int r = 0; r < ranks; ++r) {
    if (partner(r) >= 0) rounds->Send(partner(r), r);
  }
  for (int r = 0; r < ranks; ++r) {
    if (partner(r) < 0) continue;
    rounds->Receive(r);
    rounds->Work(r, after_us);
  }
}

// Each rank of shared memory copies for `in_us`, sends to all others, and works for `each_us` on
// the message of each.
SegmentTimes AllToAllInOneRound(const Steps& steps, const CostQuery& query, const Segment& segment,
                                double in_us, double each_us) {
  const Hop hop(steps, 0, segment, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
  const int others = query.ranks - 1;
  const double processor_us =
      steps.Crowd() * (in_us + others * hop.processor_us() + others * each_us);
  return {hop.latency_us + processor_us, processor_us};
}

}  // namespace

SegmentTimes DirectMultiBroadcastTimes(const Steps& steps, const CostQuery& query,
                                       const Segment& segment) {
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out = steps.CopyOut(ChunkRole::kReceive, segment.bytes);
  return AllToAllInOneRound(steps, query, segment, in, out);
}

SegmentTimes DirectMultiReduceTimes(const Steps& steps, const CostQuery& query,
                                    const Segment& segment) {
  const double in = (query.ranks - 1) * steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  return AllToAllInOneRound(steps, query, segment, in, steps.CombineAtHome(segment.bytes));
}

SegmentTimes ExchangeTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double each = steps.CombineAtHome(segment.bytes);
  if (query.pattern == Pattern::kAllReduce) {
    return AllToAllInOneRound(steps, query, segment, in, each);
  }
  const Hop hop(steps, 0, segment, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
  const int others = query.ranks - 1;
  const double combine = others * (hop.receive_us + each);
  const double send = in + hop.send_us;
  const double all = steps.Crowd() * (others * send + combine) / query.ranks;
  return {std::max(send + hop.latency_us + combine, all), std::max(combine, all)};
}

SegmentTimes HypercubeTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const Hypercube cube(query.ranks);
  const bool folds = cube.extra > 0;
  const double crowd = steps.CrowdAtWork();
  const double copy = crowd * steps.CopyIn(ChunkRole::kCombineTarget, segment.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, segment.bytes);
  const double out = folds ? crowd * steps.CopyOut(ChunkRole::kCombineTarget, segment.bytes) : 0;
  const Hop far(steps, SlowestLink(steps, query), segment, ChunkRole::kCombineTarget,
                ChunkRole::kReceive, steps.Crowd());
  const auto is_folded = [&](int r) { return cube.IsPaired(r) && r % 2 == 1; };
  double dimensions_us = 0;
  const auto finish = [&](Ports::Buckets buckets) {
    Rounds rounds(steps, query.ranks, segment, buckets);
    for (int r = 0; r < query.ranks; ++r) rounds.Work(r, far.Begin(copy));
    const auto folded_to = [&](int r) { return cube.IsPaired(r) && r % 2 == 0 ? r + 1 : -1; };
    Exchange(query.ranks, folded_to, combine, &rounds);
    const double begin_us = rounds.Latest();
    for (int d = 0; d < cube.dimensions; ++d) {
      const auto partner = [&](int r) {
        return is_folded(r) ? -1 : cube.RankAt(cube.CornerOf(r) ^ (1 << d));
      };
      Exchange(query.ranks, partner, combine, &rounds);
    }
    dimensions_us = rounds.Latest() - begin_us;
    const auto results = [&](int r) { return is_folded(r) ? r - 1 : -1; };
    Exchange(query.ranks, results, out, &rounds);
    return rounds.Latest();
  };
  const double first = finish(Ports::Buckets::kFull);
  finish(Ports::Buckets::kEmpty);  // as later segments find them
  const int messages = cube.dimensions + (folds ? 1 : 0);
  const double busy =
      std::max(messages * far.wire_us, messages * (far.processor_us() + combine) + out);
  if (query.ranks == 2) {  // own segments go one ahead
    return {first, std::max({far.wire_us, far.us() / 2, busy + copy})};
  }
  // Else the next segment begins when this one is through.
  return {first, std::max(dimensions_us + copy, busy)};
}

SegmentTimes BarrierTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  if (steps.SharesMemory() && query.ranks > rules::kMostRanksOnExchange) {
    CostQuery tree = query;
    tree.topology = kWithinHost;
    tree.late_us = 0;  // it is not for trees to know
    return TreeAllReduceTimes(steps, tree, segment);
  }
  if (steps.SharesMemory() && query.ranks > 2) {
    return AllToAllInOneRound(steps, query, segment, 0, 0);
  }
  Rounds rounds(steps, query.ranks, segment, Ports::Buckets::kFull);
  for (int distance = 1; distance < query.ranks; distance *= 2) {
    const auto partner = [&](int r) { return (r + query.ranks - distance) % query.ranks; };
    Exchange(query.ranks, partner, 0, &rounds);
  }
  return {rounds.Latest(), 0};
}

}  // namespace brigade
