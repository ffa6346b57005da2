#include "patterns/model/cost_model.h"

#include <algorithm>
#include <numeric>

#include "membuf/check.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/catalogue/subtrees.h"
#include "patterns/model/block_cost.h"
#include "patterns/model/circulant_cost.h"
#include "patterns/model/cost_ports.h"
#include "patterns/model/cost_steps.h"
#include "patterns/model/scan_cost.h"
#include "patterns/model/tree_cost.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

bool IsMulti(Pattern pattern) { return EntryOf(pattern).multi; }

Way BroadcastWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const double copy = steps.CopyIn(ChunkRole::kBroadcastSource, piece.bytes);
  const TreeCost tree(steps, query);
  return tree.Down(piece, tree.StartUs(0) + copy, [&](int relative) {
    Load load;
    if (relative == 0) load.processor_us = copy;
    return load;
  });
}

Way ReduceWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  return TreeCost(steps, query).Up(piece, /*to_matrix=*/true);
}

Way TreeAllReduceWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const TreeCost tree(steps, query);
  const Way up = tree.Up(piece, /*to_matrix=*/false);
  const double out = steps.CopyOut(ChunkRole::kCombineTarget, piece.bytes);  // at the root
  return tree.Down(piece, up.first_us, [&](int relative) {
    Load load = tree.LoadUp(piece, /*to_matrix=*/false, relative);
    if (relative == 0) load.processor_us += out;
    return load;
  });
}

// How many ranks each host has, by host.
std::vector<int> RanksOfHosts(const Steps& steps, int ranks) {
  std::vector<int> counts;
  for (int r = 0; r < ranks; ++r) {
    const auto host = static_cast<size_t>(steps.HostOf(r));
    if (host >= counts.size()) counts.resize(host + 1);
    ++counts[host];
  }
  return counts;
}

// The edges of a ring through all ranks.
class RingEdges {
 public:
  RingEdges(const Steps& steps, const CostQuery& query) {
    std::vector<int> order(static_cast<size_t>(query.ranks));
    std::iota(order.begin(), order.end(), 0);
    if (query.topology.by_host) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return steps.HostOf(a) < steps.HostOf(b); });
    }
    std::vector<int> leave(RanksOfHosts(steps, query.ranks).size());  // by host
    int in = steps.LinkIndex(order.back(), order.front());
    for (size_t i = 0; i < order.size(); ++i) {
      const int out = steps.LinkIndex(order[i], order[(i + 1) % order.size()]);
      ++edges_[out];
      leave[static_cast<size_t>(steps.HostOf(order[i]))] += out;
      meet_[in][out] = true;
      in = out;
    }
    if (steps.LinkAt(1).ports_of_host) far_at_port_ = *std::max_element(leave.begin(), leave.end());
  }

  // The kind of link that most waiting is for.
  int slowest() const { return edges_[1] > 0 ? 1 : 0; }
  // The way around of what each rank passes on at once: all edges but the best. `hop_us(link)`: of
  // one.
  template <typename HopUs>
  double Around(const HopUs& hop_us) const {
    const double all =
        (edges_[0] > 0 ? edges_[0] * hop_us(0) : 0) + (edges_[1] > 0 ? edges_[1] * hop_us(1) : 0);
    return all - hop_us(edges_[0] > 0 ? 0 : 1);
  }
  // How long the busiest port is in use if every rank sends a message.
  template <typename HopOn>
  double AtPort(const HopOn& hop_on) const {
    return std::max(edges_[0] > 0 ? hop_on(0).wire_us : 0,
                    edges_[1] > 0 ? far_at_port_ * hop_on(1).wire_us : 0);
  }
  // And the busiest processor.
  template <typename HopOn>
  double AtProcessor(const HopOn& hop_on) const {
    double busiest_us = 0;
    for (const int in : {0, 1}) {
      for (const int out : {0, 1}) {
        if (!meet_[in][out]) continue;
        busiest_us = std::max(busiest_us, hop_on(in).receive_us + hop_on(out).send_us);
      }
    }
    return busiest_us;
  }

 private:
  int edges_[2] = {};
  bool meet_[2][2] = {};  // at a rank: the kind of edge by which it receives, and sends
  int far_at_port_ = 1;   // messages to other hosts
};

// One piece of every block, each passed on until it is everywhere: a rank sends what it has just
// received, so that latencies count every time. Copies are made meanwhile.
Way RingMultiBroadcastWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const RingEdges edges(steps, query);
  const auto hop_on = [&](int link) {
    return Hop(steps, link, piece, ChunkRole::kForward, ChunkRole::kForward, steps.Crowd());
  };
  const Hop hop = hop_on(edges.slowest());
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double out = steps.CopyOut(ChunkRole::kForward, piece.bytes);
  // What comes last goes no further.
  const double last = piece.later && steps.LandsInPlace() ? 0 : out;
  const int others = query.ranks - 1;
  const double around = edges.Around([&](int link) { return hop_on(link).us(); });
  const double processor = others * (edges.AtProcessor(hop_on) + out) - out;
  const double at_port = edges.AtPort(hop_on);
  const double round = std::max({around, processor, others * at_port});
  return {hop.Begin(in) + round - hop.Saved(others) + last, std::max(round, processor + last + in)};
}

// Where memory is shared every rank copies its own piece in, for all, and theirs out.
Way DirectMultiBroadcastWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, 0, piece, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double out = steps.CopyOut(ChunkRole::kReceive, piece.bytes);
  const int others = query.ranks - 1;
  const double processor = steps.Crowd() * (in + others * (hop.processor_us() + out));
  return {hop.latency_us + processor, processor};
}

// Likewise, to each a block of its own, all of which it combines.
Way DirectMultiReduceWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, 0, piece, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double combine = steps.CombineAtHome(piece.bytes);
  const double processor = steps.Crowd() * (query.ranks - 1) * (in + hop.processor_us() + combine);
  return {hop.latency_us + processor, processor};
}

// All contributions at once to whoever is to have the result, and combines them.
Way ExchangeWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, 0, piece, ChunkRole::kBufferedSend, ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const int others = query.ranks - 1;
  const double combine = others * (hop.receive_us + steps.CombineAtHome(piece.bytes));
  if (query.pattern == Pattern::kAllReduce) {
    const double processor = steps.Crowd() * (in + others * hop.send_us + combine);
    return {hop.latency_us + processor, processor};
  }
  const double send = in + hop.send_us;
  const double all = steps.Crowd() * (others * send + combine) / query.ranks;
  return {std::max(send + hop.latency_us + combine, all), std::max(combine, all)};
}

// Blocks of other hosts pass gate after gate, one per host, each of which tells the ranks there.
Way MultiBroadcastByHostWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const std::vector<int> counts = RanksOfHosts(steps, query.ranks);
  const int most = *std::max_element(counts.begin(), counts.end());
  const auto hosts = static_cast<int>(
      std::count_if(counts.begin(), counts.end(), [](int count) { return count > 0; }));
  const Hop far(steps, 1, piece, ChunkRole::kForward, ChunkRole::kForward, 1);
  const Hop near(steps, 0, piece, ChunkRole::kForward, ChunkRole::kReceive, steps.Crowd());
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double out = steps.CopyOut(ChunkRole::kForward, piece.bytes);
  const int others = most - 1;  // that a gate tells
  const int blocks = query.ranks - most;
  const double processor = far.processor_us() + others * near.send_us + out;
  const double busy = std::max({processor, far.wire_us, others * near.wire_us});
  // As many rings, one after the other, as a host has ranks. What starts a ring came early.
  const double around =
      (hosts - 1) * far.us() + (most - 1) * (hosts - 2) * std::max(far.us(), processor);
  const double round = std::max({blocks * busy, around, others * (blocks + 1) * near.wire_us});
  const double told = others * near.send_us + near.wire_us + near.latency_us + near.receive_us;
  return {far.Begin(in) + round - far.Saved(blocks) + told + out, round + in};
}

Way MultiReduceWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const RingEdges edges(steps, query);
  const auto hop_on = [&](int link) {
    return Hop(steps, link, piece, ChunkRole::kCombineTarget, ChunkRole::kReceive, steps.Crowd());
  };
  const Hop hop = hop_on(edges.slowest());
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, piece.bytes);
  const int others = query.ranks - 1;
  const double around = edges.Around([&](int link) { return hop_on(link).us() + combine; });
  const double at_port = edges.AtPort(hop_on);
  const double round = std::max(around, others * at_port);
  return {hop.Begin(in) + round - hop.Saved(others),
          std::max(round, others * (edges.AtProcessor(hop_on) + combine) + in)};
}

// Sums of piece i + 1 and results of piece i take turns on the ring.
Way ReduceScatterAllgatherWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const RingEdges edges(steps, query);
  const auto hop_on = [&](int link) {
    return Hop(steps, link, piece, ChunkRole::kCombineTarget, ChunkRole::kReceive, steps.Crowd());
  };
  const Hop hop = hop_on(edges.slowest());
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kCombineTarget, piece.bytes);
  const double out = crowd * steps.CopyOut(ChunkRole::kForward, piece.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, piece.bytes);
  const int others = query.ranks - 1;
  const double at_port = edges.AtPort(hop_on);
  const double processor_us = edges.AtProcessor(hop_on);
  // Where memory is shared each tells all its result at once.
  const double told =
      steps.SharesMemory() ? hop.us() : edges.Around([&](int link) { return hop_on(link).us(); });
  const double sums = std::max(edges.Around([&](int link) { return hop_on(link).us() + combine; }),
                               others * at_port);
  const double results = std::max({told, others * at_port, others * (processor_us + out)});
  const double both = std::max(sums, others * 2 * at_port);
  const double processor = others * (2 * processor_us + combine + out) + in + out;
  return {hop.Begin(in) + sums + results - hop.Saved(2 * others) + out, std::max(both, processor)};
}

// Rank `r`'s exchange with others, dimension after dimension: everybody's time after it, from that
// before. `partner(r)`: from whom r hears; `after_us`: what r does then.
template <typename Partner>
void Exchange(const Steps& steps, const Piece& piece, const Partner& partner, double after_us,
              Ports* ports, std::vector<double>* times) {
  const std::vector<double> before = *times;
  for (int r = 0; r < static_cast<int>(before.size()); ++r) {
    const int from = partner(r);
    if (from < 0) continue;
    const Hop hop(steps, steps.LinkIndex(from, r), piece, ChunkRole::kCombineTarget,
                  ChunkRole::kReceive, steps.Crowd());
    const double sent_us = before[static_cast<size_t>(from)] + hop.send_us;
    double& time = (*times)[static_cast<size_t>(r)];
    time =
        std::max(time + hop.send_us, ports->Pass(from, r, sent_us, hop.wire_us) + hop.latency_us) +
        hop.receive_us + after_us;
  }
}

double Latest(const std::vector<double>& times) {
  return *std::max_element(times.begin(), times.end());
}

// Partners of one dimension after the other; ranks beyond a power of two tell theirs first and are
// told last.
Way HypercubeWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  int dimensions = 0;
  while ((2 << dimensions) <= query.ranks) ++dimensions;
  const int extra = query.ranks - (1 << dimensions);
  const bool folds = extra > 0;
  const double crowd = steps.CrowdAtWork();
  const double copy = crowd * steps.CopyIn(ChunkRole::kCombineTarget, piece.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, piece.bytes);
  const double out = folds ? crowd * steps.CopyOut(ChunkRole::kCombineTarget, piece.bytes) : 0;
  const Hop far(steps, RingEdges(steps, query).slowest(), piece, ChunkRole::kCombineTarget,
                ChunkRole::kReceive, steps.Crowd());
  const auto is_told = [&](int r) { return r < 2 * extra && r % 2 == 1; };
  double dimensions_us = 0;
  const auto finish = [&](Ports::Buckets buckets) {
    Ports ports(steps, query.ranks, buckets);
    std::vector<double> times(static_cast<size_t>(query.ranks), far.Begin(copy));
    const auto telling = [&](int r) { return r < 2 * extra && r % 2 == 0 ? r + 1 : -1; };
    Exchange(steps, piece, telling, combine, &ports, &times);
    const double begin_us = Latest(times);
    for (int d = 0; d < dimensions; ++d) {
      const auto partner = [&](int r) {
        if (is_told(r)) return -1;
        const int other = (r < 2 * extra ? r / 2 : r - extra) ^ (1 << d);
        return other < extra ? 2 * other : other + extra;
      };
      Exchange(steps, piece, partner, combine, &ports, &times);
    }
    dimensions_us = Latest(times) - begin_us;
    const auto told = [&](int r) { return is_told(r) ? r - 1 : -1; };
    Exchange(steps, piece, told, out, &ports, &times);
    return Latest(times);
  };
  const double first = finish(Ports::Buckets::kFull);
  finish(Ports::Buckets::kEmpty);  // as later pieces find them
  const int messages = dimensions + (folds ? 1 : 0);
  const double busy =
      std::max(messages * far.wire_us, messages * (far.processor_us() + combine) + out);
  if (query.ranks == 2) {  // own pieces go one ahead
    return {first, std::max({far.wire_us, far.us() / 2, busy + copy})};
  }
  // Else the next piece begins when this one is through.
  return {first, std::max(dimensions_us + copy, busy)};
}

Way BarrierWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  if (steps.SharesMemory() && query.ranks > kMostInOneRound) {
    CostQuery tree = query;
    tree.topology = kWithinHost;
    tree.late_us = 0;  // it is not for trees to know
    return TreeAllReduceWay(steps, tree, piece);
  }
  if (steps.SharesMemory() && query.ranks > 2) {
    const Hop hop(steps, 0, piece, ChunkRole::kBufferedSend, ChunkRole::kReceive, steps.Crowd());
    return {(query.ranks - 1) * hop.processor_us() + hop.latency_us, 0};
  }
  Ports ports(steps, query.ranks, Ports::Buckets::kFull);
  std::vector<double> times(static_cast<size_t>(query.ranks));
  for (int distance = 1; distance < query.ranks; distance *= 2) {
    const auto partner = [&](int r) { return (r + query.ranks - distance) % query.ranks; };
    Exchange(steps, piece, partner, 0, &ports, &times);
  }
  return {Latest(times), 0};
}

Way MessageWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, RingEdges(steps, query).slowest(), piece, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, piece.bytes);
  const double out =
      piece.later && steps.LandsInPlace() ? 0 : steps.CopyOut(ChunkRole::kReceive, piece.bytes);
  const double processor = std::max(in + hop.send_us, hop.receive_us + out);
  return {in + hop.us() - hop.Saved(1) + out, std::max(processor, hop.wire_us),
          std::max(0.0, hop.burst_us - hop.wire_us), std::max(0.0, hop.wire_us - processor)};
}

// Until a sender whose header goes ahead may send more: if pieces wait for their places, the
// header's way, and the answer's. What the bucket saves is counted with the pieces.
double HeaderAheadUs(const Steps& steps, const CostQuery& query, const PiecePlan& plan) {
  const int link = RingEdges(steps, query).slowest();
  const Hop hop(steps, link, {plan.ahead_bytes, false}, ChunkRole::kBufferedSend,
                ChunkRole::kReceive, 1);
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, plan.ahead_bytes);
  const size_t next_bytes = plan.RangeOf(1).bytes;
  if (steps.Grant(link, next_bytes) == 0) return in + hop.send_us;
  return in + hop.us() + steps.Grant(link, next_bytes);
}

CostQuery Half(const CostQuery& query, int half) {
  CostQuery other = query;
  other.topology = {Shape::kTwoTree, half};
  return other;
}

// A piece down, or up, each of two trees, whose ranks have their inner part in one of them.
Way TwoTreeWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const CostQuery halves[] = {Half(query, 0), Half(query, 1)};
  const TreeCost trees[] = {TreeCost(steps, halves[0]), TreeCost(steps, halves[1])};
  Way both;
  for (const int half : {0, 1}) {
    const TreeCost& tree = trees[half];
    const TreeCost& other = trees[1 - half];
    Way way;
    if (query.pattern == Pattern::kBroadcast) {
      const double copy = steps.CopyIn(ChunkRole::kBroadcastSource, piece.bytes);
      way = tree.Down(piece, tree.StartUs(0) + copy, [&](int relative) {
        Load load = other.LoadDown(piece, relative);
        if (relative == 0) load.processor_us += 2 * copy;
        return load;
      });
    } else {
      way = tree.Up(piece, /*to_matrix=*/true, [&](int relative) {
        return other.LoadUp(piece, /*to_matrix=*/true, relative);
      });
    }
    both.first_us = std::max(both.first_us, way.first_us);
    both.piece_us = std::max(both.piece_us, way.piece_us);
    both.spare_us = way.spare_us;
    both.port_bound_us = way.port_bound_us;
  }
  return both;
}

int RoundsOf(int ranks) {
  int rounds = 0;
  while ((1 << rounds) < ranks) ++rounds;
  return rounds;
}

// Blocks on a circulant graph: each rank sends and receives one in each round, and no block is
// passed on more often than there are rounds in a phase.
Way CirculantWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const Hop hop(steps, RingEdges(steps, query).slowest(), piece, ChunkRole::kForward,
                ChunkRole::kForward, 1);
  const bool combines = query.pattern == Pattern::kReduce;
  const double in = steps.CopyIn(ChunkRole::kForward, piece.bytes);
  const double work = combines ? steps.Combine(ChunkRole::kCombineTarget, piece.bytes)
                               : steps.CopyOut(ChunkRole::kForward, piece.bytes);
  const int rounds = RoundsOf(query.ranks);
  const double hop_us = hop.us() + (combines ? work : 0);
  const double processor = steps.Crowd() * (hop.processor_us() + work);
  return {hop.Begin(in) + rounds * hop_us - hop.Saved(rounds) + (combines ? 0 : work),
          std::max(hop.wire_us, processor), std::max(0.0, hop.burst_us - hop.wire_us),
          std::max(0.0, hop.wire_us - processor)};
}

Way AllReduceWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  if (steps.GoesInOneRound()) return ExchangeWay(steps, query, piece);
  switch (query.topology.shape) {
    case Shape::kReduceScatterAllgather:
      return ReduceScatterAllgatherWay(steps, query, piece);
    case Shape::kHypercube:
      return HypercubeWay(steps, query, piece);
    default:
      return TreeAllReduceWay(steps, query, piece);
  }
}

// `alone`: there are no other pieces.
Way WayOf(const Steps& steps, const CostQuery& query, const Piece& piece, bool alone) {
  switch (query.pattern) {
    case Pattern::kSend:
    case Pattern::kReceive:
      return MessageWay(steps, query, piece);
    case Pattern::kBroadcast:
    case Pattern::kReduce:
      if (query.topology.shape == Shape::kTwoTree) return TwoTreeWay(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant) return CirculantWay(steps, query, piece);
      if (steps.GoesInOneRound()) return ExchangeWay(steps, query, piece);
      return query.pattern == Pattern::kBroadcast ? BroadcastWay(steps, query, piece)
                                                  : ReduceWay(steps, query, piece);
    case Pattern::kAllReduce:
      return AllReduceWay(steps, query, piece);
    case Pattern::kMultiBroadcast:
      if (steps.SharesMemory()) return DirectMultiBroadcastWay(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).WayOf(piece, alone);
      return query.topology.by_host ? MultiBroadcastByHostWay(steps, query, piece)
                                    : RingMultiBroadcastWay(steps, query, piece);
    case Pattern::kMultiReduce:
      if (steps.GoesInOneRound()) return DirectMultiReduceWay(steps, query, piece);
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).WayOf(piece, alone);
      return MultiReduceWay(steps, query, piece);
    case Pattern::kBarrier:
      return BarrierWay(steps, query, piece);
    case Pattern::kGather:
    case Pattern::kScatter:
      return RootedBlocksWay(steps, query, piece);
    case Pattern::kAllToAll:
      if (query.topology.shape == Shape::kCirculant)
        return CirculantCost(steps, query).WayOf(piece, alone);
      return AllToAllWay(steps, query, piece);
    case Pattern::kScan:
    case Pattern::kExscan:
      return ScanWay(steps, query, piece);
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
      return Shares::Segments(RoundsOf(query.ranks), query.pattern == Pattern::kReduce);
    default:
      return Shares();
  }
}

}  // namespace

bool SharesMemory(const MachineDescription& machine, const CostQuery& query) {
  if (!machine.shared_memory.is_shared) return false;
  if (query.hosts.empty()) return machine.HostOf(query.ranks - 1) == 0;
  return std::all_of(query.hosts.begin(), query.hosts.end(),
                     [&](int host) { return host == query.hosts.front(); });
}

bool GoesInOneRound(const MachineDescription& machine, const CostQuery& query) {
  ScheduleParameters p;
  p.size = query.ranks;
  p.topology = query.topology;
  p.shares_memory = SharesMemory(machine, query);
  if (query.pattern == Pattern::kMultiReduce) {
    return ExchangesBlocks(p.topology, p.size, p.shares_memory);
  }
  return Exchanges(p, query.pattern == Pattern::kAllReduce ? kMostLevelsToAll : kMostLevelsToOne);
}

PiecePlan PlanOf(const PieceSettings& settings, const CostQuery& query) {
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
    const Subtrees tree(query.topology, query.ranks);
    if (!tree.is_flat()) {
      plan.piece_bytes =
          std::max<size_t>(1, PieceBytesTogether(rule, tree.MostTogether(), plan.piece_bytes));
    }
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
  const PiecePlan plan = PlanOf(settings, query);
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
  const Way last = WayOf(steps, query, {last_bytes, later}, one);
  cost.first_us = cost.us = begin_us + last.first_us;
  if (one && (multi || query.topology.shape != Shape::kCirculant)) return cost;
  // The last piece follows the others, and a shorter one does not overtake them.
  const bool alike = last_bytes == cost.piece_bytes && later == (plan.Count() > 2);
  const Way other = alike ? last : WayOf(steps, query, {cost.piece_bytes, plan.Count() > 2}, false);
  auto before = static_cast<double>(cost.pieces - 2);
  cost.piece_us = other.piece_us;
  if (query.topology.shape == Shape::kCirculant && !multi) {  // shares take turns
    cost.pieces = cost.pieces * RoundsOf(query.ranks) + 1;
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
    CostQuery compiled = query;  // to the only way where every rank reads what others have staged
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
