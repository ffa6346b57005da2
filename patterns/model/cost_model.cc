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

SegmentTimes MessageTimes(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, SlowestLink(steps, query), piece, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double out =
      piece.later && steps.LandsInPlace() ? 0 : steps.CopyOut(ChunkRole::kReceive, piece.bytes);
  const double processor = std::max(in + hop.send_us, hop.receive_us + out);
  return {in + hop.us() - hop.Saved(1) + out, std::max(processor, hop.wire_us),
          std::max(0.0, hop.burst_us - hop.wire_us), std::max(0.0, hop.wire_us - processor)};
}

// Until a sender whose header goes ahead may send more: if pieces wait for their places, the
// header's latency, and the answer's. The time that the bucket saves is counted with the pieces.
double HeaderAheadUs(const Steps& steps, const CostQuery& query, const PiecePlan& plan) {
  const int link = SlowestLink(steps, query);
  const Hop hop(steps, link, {plan.ahead_bytes, false}, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, plan.ahead_bytes);
  const size_t next_bytes = plan.RangeOf(1).bytes;
  if (steps.Grant(link, next_bytes) == 0) return in + hop.send_us;
  return in + hop.us() + steps.Grant(link, next_bytes);
}

SegmentTimes AllReduceTimes(const Steps& steps, const CostQuery& query, const Piece& piece) {
  if (steps.GoesInOneRound()) return ExchangeTimes(steps, query, piece);
  switch (query.topology.shape) {
    case Shape::kReduceScatterAllgather:
      return ReduceScatterAllgatherTimes(steps, query, piece);
    case Shape::kHypercube:
      return HypercubeTimes(steps, query, piece);
    default:
      return TreeAllReduceTimes(steps, query, piece);
  }
}

// `alone`: there are no other pieces.
SegmentTimes TimesOf(const Steps& steps, const CostQuery& query, const Piece& piece, bool alone) {
  switch (query.pattern) {
    case Pattern::kSend:
    case Pattern::kReceive:
      return MessageTimes(steps, query, piece);
    case Pattern::kBroadcast:
    case Pattern::kReduce:
      if (query.topology.shape == Shape::kTwoTree) return TwoTreeTimes(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant) return CirculantTimes(steps, query, piece);
      if (steps.GoesInOneRound()) return ExchangeTimes(steps, query, piece);
      return query.pattern == Pattern::kBroadcast ? TreeBroadcastTimes(steps, query, piece)
                                                  : TreeReduceTimes(steps, query, piece);
    case Pattern::kAllReduce:
      return AllReduceTimes(steps, query, piece);
    case Pattern::kMultiBroadcast:
      if (steps.SharesMemory()) return DirectMultiBroadcastTimes(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(piece, alone);
      return query.topology.by_host ? MultiBroadcastByHostTimes(steps, query, piece)
                                    : RingMultiBroadcastTimes(steps, query, piece);
    case Pattern::kMultiReduce:
      if (steps.GoesInOneRound()) return DirectMultiReduceTimes(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(piece, alone);
      return RingMultiReduceTimes(steps, query, piece);
    case Pattern::kBarrier:
      return BarrierTimes(steps, query, piece);
    case Pattern::kGather:
    case Pattern::kScatter:
      return RootedBlocksTimes(steps, query, piece);
    case Pattern::kAllToAll:
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).TimesOf(piece, alone);
      return AllToAllTimes(steps, query, piece);
    case Pattern::kScan:
    case Pattern::kExscan:
      return ScanTimes(steps, query, piece);
  }
  CheckFailed(__FILE__, __LINE__, "no such pattern");
}

// How the matrix is cut before it is cut into pieces.
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

PiecePlan PlanOf(const MachineDescription& machine, const PieceSettings& settings,
                 const CostQuery& query) {
  if (query.pattern == Pattern::kBarrier) return PiecePlan();
  if (IsPair(query.pattern)) return PlanMessage(OfPairs(settings), query.bytes);
  CutRule rule{settings};
  rule.multi = IsMulti(query.pattern);
  if (EntryOf(query.pattern).combines) {
    rule.elem_bytes = rule.wire_bytes = query.elem_bytes;
  }
  rule.ranks = query.ranks;
  rule.wanted_bytes = query.piece_bytes;
  const Shares shares = rule.multi ? Shares() : SharesOf(query);
  const size_t longest = LongestShare(shares, query.bytes / rule.elem_bytes, rule.elem_bytes);
  PiecePlan plan = PlanLongest(rule, shares, longest * rule.elem_bytes);
  if (rule.multi && query.topology.shape == Shape::kCirculant) {
    const int together = (query.ranks + 1) / 2;  // at most
    plan.piece_bytes =
        std::max(rule.elem_bytes, PieceBytesTogether(rule, together, plan.piece_bytes));
  }
  if (IsRootedBlocks(query.pattern)) {
    const int together = SubtreesOf(Steps(machine, settings, query), query).MostTogether();
    plan.piece_bytes = std::max<size_t>(1, PieceBytesTogether(rule, together, plan.piece_bytes));
  }
  return plan;
}

PieceSettings SettingsOn(const MachineDescription& machine, const Link& link, size_t chunk_bytes,
                         size_t staging_bytes) {
  PieceSettings settings =
      PieceSettingsFor(chunk_bytes, staging_bytes, machine.preferred_piece_bytes);
  settings.overlap_bytes = machine.overlap_piece_bytes;
  settings.piece_cost_bytes = machine.piece_cost_bytes;
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
Cost PredictInStep(const MachineDescription& machine, const PieceSettings& settings,
                   const CostQuery& query) {
  const bool multi = IsMulti(query.pattern);
  const Steps steps(machine, settings, query);
  const PiecePlan plan = PlanOf(machine, settings, query);
  Cost cost;
  cost.pieces = plan.Count();
  cost.piece_bytes = std::min(plan.piece_bytes, plan.total_bytes);
  if (query.ranks == 1) return cost;
  double begin_us = IsTree(machine, query) ? 0 : LateUs(steps, query);
  if (steps.CopiesByKernel()) {
    const Hop head(steps, 0, {0, false}, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
    cost.pieces = 1;
    cost.piece_bytes = query.bytes;
    cost.first_us = cost.us = begin_us + steps.KernelCopy(query.bytes) + head.us();
    return cost;
  }
  if (plan.header_ahead) {
    begin_us += HeaderAheadUs(steps, query, plan);
    --cost.pieces;
  }
  const bool later = plan.Count() > 1;
  const bool one = cost.pieces == 1;
  const size_t last_bytes = plan.RangeOf(plan.Count() - 1).bytes;
  const SegmentTimes last = TimesOf(steps, query, {last_bytes, later}, one);
  cost.first_us = cost.us = begin_us + last.first_us;
  if (one && (multi || query.topology.shape != Shape::kCirculant)) return cost;
  // The last piece follows the others, and a shorter one does not overtake them.
  const bool alike = last_bytes == cost.piece_bytes && later == (plan.Count() > 2);
  const SegmentTimes other =
      alike ? last : TimesOf(steps, query, {cost.piece_bytes, plan.Count() > 2}, false);
  auto before = static_cast<double>(cost.pieces - 2);
  cost.piece_us = other.piece_us;
  if (query.topology.shape == Shape::kCirculant && !multi) {  // shares take turns
    cost.pieces = cost.pieces * CirculantGraph(query.ranks).rounds() + 1;
    before = static_cast<double>(cost.pieces - 2);
  }
  cost.us = begin_us + before * other.piece_us +
            std::max(other.piece_us + last.first_us, other.first_us + last.piece_us);
  cost.us -= std::min(other.spare_us, (before + 1) * other.port_bound_us);
  return cost;
}

}  // namespace

Cost PredictCost(const MachineDescription& machine, const PieceSettings& settings,
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