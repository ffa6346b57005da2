#include "patterns/model/cost_model.h"

#include <algorithm>

#include "membuf/check.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/model/block_cost.h"
#include "patterns/model/circulant_cost.h"
#include "patterns/model/cost_steps.h"
#include "patterns/model/exchange_cost.h"
#include "patterns/model/ring_cost.h"
#include "patterns/model/scan_cost.h"
#include "patterns/model/tree_cost.h"
#include "patterns/rules.h"
#include "patterns/schedule/circulant_graph.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

bool IsMulti(Pattern pattern) { return EntryOf(pattern).multi; }

SegmentTimes MessageTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const Hop hop(steps, SlowestLink(steps, query), segment, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out =
      segment.later && steps.LandsInPlace() ? 0 : steps.CopyOut(ChunkRole::kReceive, segment.bytes);
  const double processor = std::max(in + hop.send_us, hop.receive_us + out);
  return {in + hop.us() - hop.Saved(1) + out, std::max(processor, hop.wire_us),
          std::max(0.0, hop.burst_us - hop.wire_us), std::max(0.0, hop.wire_us - processor)};
}

// Until a sender whose header goes ahead may send more: if segments wait for their places, the
// header's latency, and the answer's. The time that the bucket saves is counted with the segments.
double HeaderAheadUs(const Steps& steps, const CostQuery& query, const SegmentPlan& plan) {
  const int link = SlowestLink(steps, query);
  const Hop hop(steps, link, {plan.ahead_bytes, false}, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, plan.ahead_bytes);
  const size_t next_bytes = plan.RangeOf(1).bytes;
  if (steps.Grant(link, next_bytes) == 0) return in + hop.send_us;
  return in + hop.us() + steps.Grant(link, next_bytes);
}

SegmentTimes AllReduceTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  if (steps.GoesInOneRound()) return ExchangeTimes(steps, query, segment);
  switch (query.topology.shape) {
    case Shape::kReduceScatterAllgather:
      return ReduceScatterAllgatherTimes(steps, query, segment);
    case Shape::kHypercube:
      return HypercubeTimes(steps, query, segment);
    default:
      return TreeAllReduceTimes(steps, query, segment);
  }
}

// `alone`: there are no other segments.
SegmentTimes TimesOf(const Steps& steps, const CostQuery& query, const Segment& segment,
                     bool alone) {
  switch (query.pattern) {
    case Pattern::kSend:
    case Pattern::kReceive:
      return MessageTimes(steps, query, segment);
    case Pattern::kBroadcast:
    case Pattern::kReduce:
      if (query.topology.shape == Shape::kTwoTree) return TwoTreeTimes(steps, query, segment);
      if (query.topology.shape == Shape::kCirculant) return CirculantTimes(steps, query, segment);
      if (steps.GoesInOneRound()) return ExchangeTimes(steps, query, segment);
      return query.pattern == Pattern::kBroadcast ? TreeBroadcastTimes(steps, query, segment)
                                                  : TreeReduceTimes(steps, query, segment);
    case Pattern::kAllReduce:
      return AllReduceTimes(steps, query, segment);
    case Pattern::kMultiBroadcast:
      if (steps.SharesMemory()) return DirectMultiBroadcastTimes(steps, query, segment);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(segment, alone);
      return query.topology.by_host ? MultiBroadcastByHostTimes(steps, query, segment)
                                    : RingMultiBroadcastTimes(steps, query, segment);
    case Pattern::kMultiReduce:
      if (steps.GoesInOneRound()) return DirectMultiReduceTimes(steps, query, segment);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(segment, alone);
      return RingMultiReduceTimes(steps, query, segment);
    case Pattern::kBarrier:
      return BarrierTimes(steps, query, segment);
    case Pattern::kGather:
    case Pattern::kScatter:
      return RootedBlocksTimes(steps, query, segment);
    case Pattern::kAllToAll:
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(segment, alone);
      return AllToAllTimes(steps, query, segment);
    case Pattern::kScan:
    case Pattern::kExscan:
      return ScanTimes(steps, query, segment);
  }
  CheckFailed(__FILE__, __LINE__, "no such pattern");
}

// How the matrix is cut before it is cut into segments.
Shares SharesOf(const CostQuery& query) {
  switch (query.topology.shape) {
    case Shape::kReduceScatterAllgather:
      return {Shares::kEqual, query.ranks, 2};
    case Shape::kTwoTree:
      return Shares::Halves(query.ranks);
    case Shape::kCirculant:
      return Shares::Segments(CirculantGraph(query.ranks).rounds(),
                              query.pattern == Pattern::kReduce);
    default:
      return Shares();
  }
}

}  // namespace

SegmentPlan PlanOf(const MachineDescription& machine, const SegmentSettings& settings,
                   const CostQuery& query) {
  if (query.pattern == Pattern::kBarrier) return SegmentPlan();
  if (IsPair(query.pattern)) return PlanMessage(OfPairs(settings), query.bytes);
  CutRule rule{settings};
  rule.multi = IsMulti(query.pattern);
  if (EntryOf(query.pattern).combines) {
    rule.elem_bytes = rule.wire_bytes = query.elem_bytes;
  }
  rule.ranks = query.ranks;
  rule.wanted_bytes = query.segment_bytes;
  const Shares shares = rule.multi ? Shares() : SharesOf(query);
  const size_t longest = LongestShare(shares, query.bytes / rule.elem_bytes, rule.elem_bytes);
  SegmentPlan plan = PlanLongest(rule, shares, longest * rule.elem_bytes);
  if (rule.multi && query.topology.shape == Shape::kCirculant) {
    const int together = (query.ranks + 1) / 2;  // at most
    plan.segment_bytes =
        std::max(rule.elem_bytes, SegmentBytesTogether(rule, together, plan.segment_bytes));
  }
  if (IsRootedBlocks(query.pattern)) {
    const int together = SubtreesOf(Steps(machine, settings, query), query).MostTogether();
    plan.segment_bytes =
        std::max<size_t>(1, SegmentBytesTogether(rule, together, plan.segment_bytes));
  }
  return plan;
}

SegmentSettings SettingsOn(const MachineDescription& machine, const Link& link, size_t chunk_bytes,
                           size_t staging_bytes) {
  SegmentSettings settings =
      SegmentSettingsFor(chunk_bytes, staging_bytes, machine.preferred_segment_bytes);
  settings.overlap_bytes = machine.overlap_segment_bytes;
  settings.segment_cost_bytes = machine.segment_cost_bytes;
  if (link.eager_bytes != SIZE_MAX) {
    settings.eager_bytes = link.eager_bytes - std::min(link.eager_bytes, kHeaderBytes);
  }
  return settings;
}

namespace {

// Trees know themselves whom they wait for; elsewhere everybody waits for all.
bool IsTree(const MachineDescription& machine, const CostQuery& query) {
  if (GoesInOneRound(machine, query)) return false;
  switch (query.pattern) {
    case Pattern::kBroadcast:
    case Pattern::kReduce:
      return query.topology.shape != Shape::kCirculant;
    case Pattern::kAllReduce:
      return query.topology.shape != Shape::kReduceScatterAllgather &&
             query.topology.shape != Shape::kHypercube;
    default:
      return false;
  }
}

// Of the last rank's lateness (CostQuery::late_us), what counts from the first step on. Where
// memory is shared and one rank waits for others, who wait for nobody, that one is as likely late
// itself.
double LateUs(const Steps& steps, const CostQuery& query) {
  const bool to_one = query.pattern == Pattern::kReduce && steps.GoesInOneRound();
  const bool one_waits = to_one || (IsPair(query.pattern) && steps.SharesMemory());
  return one_waits ? query.late_us / 2 : query.late_us;
}

// Without in_step.
Cost PredictInStep(const MachineDescription& machine, const SegmentSettings& settings,
                   const CostQuery& query) {
  const bool multi = IsMulti(query.pattern);
  const Steps steps(machine, settings, query);
  const SegmentPlan plan = PlanOf(machine, settings, query);
  Cost cost;
  cost.segments = plan.Count();
  cost.segment_bytes = std::min(plan.segment_bytes, plan.total_bytes);
  if (query.ranks == 1) return cost;
  double begin_us = IsTree(machine, query) ? 0 : LateUs(steps, query);
  if (steps.CopiesByKernel()) {
    const Hop head(steps, 0, {0, false}, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
    cost.segments = 1;
    cost.segment_bytes = query.bytes;
    cost.first_us = cost.us = begin_us + steps.KernelCopy(query.bytes) + head.us();
    return cost;
  }
  if (plan.header_ahead) {
    begin_us += HeaderAheadUs(steps, query, plan);
    --cost.segments;
  }
  const bool later = plan.Count() > 1;
  const bool one = cost.segments == 1;
  const size_t last_bytes = plan.RangeOf(plan.Count() - 1).bytes;
  const SegmentTimes last = TimesOf(steps, query, {last_bytes, later}, one);
  cost.first_us = cost.us = begin_us + last.first_us;
  if (one && (multi || query.topology.shape != Shape::kCirculant)) return cost;
  // The last segment follows the others, and a shorter one does not overtake them.
  const bool alike = last_bytes == cost.segment_bytes && later == (plan.Count() > 2);
  const SegmentTimes other =
      alike ? last : TimesOf(steps, query, {cost.segment_bytes, plan.Count() > 2}, false);
  auto before = static_cast<double>(cost.segments - 2);
  cost.segment_us = other.segment_us;
  if (query.topology.shape == Shape::kCirculant && !multi) {  // shares take turns
    cost.segments = cost.segments * CirculantGraph(query.ranks).rounds() + 1;
    before = static_cast<double>(cost.segments - 2);
  }
  cost.us = begin_us + before * other.segment_us +
            std::max(other.segment_us + last.first_us, other.first_us + last.segment_us);
  cost.us -= std::min(other.spare_us, (before + 1) * other.port_bound_us);
  return cost;
}

}  // namespace

Cost PredictCost(const MachineDescription& machine, const SegmentSettings& settings,
                 const CostQuery& query) {
  const bool relays = !EntryOf(query.pattern).combines;
  if (relays && query.topology.shape == Shape::kCirculant && SharesMemory(machine, query)) {
    CostQuery compiled = query;  // the only candidate if every rank reads what others have staged
    compiled.topology =
        query.pattern == Pattern::kBroadcast ? kWithinHost : Topology{Shape::kIncreasingRings, 1};
    return PredictCost(machine, settings, compiled);
  }
  const bool blocks = !IsMulti(query.pattern) && (query.topology.shape == Shape::kTwoTree ||
                                                  query.topology.shape == Shape::kCirculant);
  if (blocks && query.bytes <= rules::kUncutBytes) {  // too short for that
    CostQuery binomial = query;
    binomial.topology = {Shape::kTree, 2};
    return PredictCost(machine, settings, binomial);
  }
  Cost cost = PredictInStep(machine, settings, query);
  if (query.late_us > 0 && IsTree(machine, query)) {  // nobody knows who comes first
    CostQuery other = query;
    double sum_us = 0;
    for (other.first = 0; other.first < query.ranks; ++other.first) {
      sum_us += PredictInStep(machine, settings, other).us;
    }
    cost.us = sum_us / query.ranks;
  }
  cost.in_step = !blocks;
  return cost;
}

}  // namespace brigade