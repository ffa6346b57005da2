#include "patterns/model/candidates.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "patterns/catalogue/catalogue.h"
#include "patterns/model/block_cost.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// Whether a message has room for an element of each of so many blocks, which 16 bytes hold.
bool HasRoom(const SegmentSettings& settings, int blocks) {
  return MostPayload(settings) / static_cast<size_t>(blocks) >= 16;
}

int HostCount(const MachineDescription& machine, const CostQuery& query) {
  std::set<int> hosts(query.hosts.begin(), query.hosts.end());
  for (int r = 0; query.hosts.empty() && r < query.ranks; ++r) hosts.insert(machine.HostOf(r));
  return static_cast<int>(hosts.size());
}

bool HasSharedHosts(const MachineDescription& machine, const CostQuery& query) {
  const int hosts = HostCount(machine, query);
  return hosts > 1 && hosts < query.ranks;
}

// The values of by_host that are worth a prediction; the one that is usually better comes first.
std::vector<bool> ByHostValues(Shape shape, const CostQuery& query) {
  if (!query.topology.by_host || KeepsToRanks(query.pattern)) return {false};
  std::vector<bool> values;
  const bool keeps_to_ranks =
      shape == Shape::kHypercube || shape == Shape::kTwoTree || shape == Shape::kCirculant;
  if (!keeps_to_ranks) values.push_back(true);
  // No closed form knows that one copy serves all readers of a host. A block has one reader.
  if (!query.some_share_memory || IsRootedBlocks(query.pattern)) values.push_back(false);
  return values;
}

// Whether a circulant graph can be taken, and the model knows what it costs.
bool TakesCirculant(const MachineDescription& machine, const SegmentSettings& settings,
                    const CostQuery& query) {
  if (EntryOf(query.pattern).multi && !HasRoom(settings, (query.ranks + 1) / 2)) return false;
  const bool combines = EntryOf(query.pattern).combines;
  if (!combines && SharesMemory(machine, query)) return false;  // equals another candidate there
  if (query.pattern == Pattern::kAllToAll) return query.equal_blocks;  // no message is for several
  if (!query.topology.by_host && !HasSharedHosts(machine, query)) return true;
  return EntryOf(query.pattern).multi && !query.some_share_memory;
}

// Whether its messages have room for the blocks of a gather or a scatter.
bool HasRoomFor(const Topology& topology, const MachineDescription& machine,
                const SegmentSettings& settings, CostQuery query) {
  query.topology = topology;
  const Steps steps(machine, settings, query);
  return HasRoom(settings, SubtreesOf(steps, query).MostTogether());
}

// All that go in one round do so alike: one is looked at.
bool IsExchange(const MachineDescription& machine, const Topology& topology,
                const CostQuery& query) {
  CostQuery exchange = query;
  exchange.topology = topology;
  return topology.parameter == rules::kWideBranches && GoesInOneRound(machine, exchange);
}

bool IsTree(Shape shape) {
  return shape == Shape::kTree || shape == Shape::kIncreasingRings ||
         shape == Shape::kDecreasingRings || shape == Shape::kSplitRing;
}

// Whether everybody passes messages on to the same others: as all trees do on two ranks.
bool IsSameTree(const Topology& a, const Topology& b, int places) {
  if (!IsTree(a.shape) || !IsTree(b.shape) || a.by_host != b.by_host) return false;
  for (int place = 0; place < places; ++place) {
    if (TreeNodeOf(a, places, place).children != TreeNodeOf(b, places, place).children) {
      return false;
    }
  }
  return true;
}

// Shapes that differ on this number of ranks.
std::vector<Topology> TopologiesFor(const MachineDescription& machine,
                                    const SegmentSettings& settings, const CostQuery& query) {
  const bool circulant = TakesCirculant(machine, settings, query);
  const bool has_blocks = EntryOf(query.pattern).multi || query.bytes > rules::kUncutBytes;
  const int hosts = HostCount(machine, query);
  std::vector<Topology> topologies = EntryOf(query.pattern).topologies;
  if (topologies.empty()) topologies.emplace_back();
  std::vector<Topology> different;
  for (Topology topology : topologies) {
    if (topology.shape == Shape::kDecreasingRings) continue;  // as fast as increasing ones
    if (topology.shape == Shape::kIncreasingRings) {
      topology.parameter = std::min(topology.parameter, std::max(query.ranks - 1, 1));
    }
    if (topology.shape == Shape::kTree && !IsRootedBlocks(query.pattern)) {
      topology.parameter = std::min(topology.parameter, std::max(query.ranks, 2));
    }
    // On a flat tree the root has as many messages, and no other rank has any but its own. The form
    // of the ring takes the square of the number of ranks.
    if (topology.shape == Shape::kIncreasingRings && IsRootedBlocks(query.pattern)) continue;
    if (topology.shape == Shape::kExchange && !IsExchange(machine, topology, query)) continue;
    if (topology.shape == Shape::kCirculant && !(circulant && has_blocks)) continue;
    if (topology.shape == Shape::kTwoTree && !has_blocks) continue;
    for (const bool by_host : ByHostValues(topology.shape, query)) {
      topology.by_host = by_host;
      if (IsRootedBlocks(query.pattern) && !HasRoomFor(topology, machine, settings, query))
        continue;
      const int places = by_host ? hosts : query.ranks;
      const auto is_same = [&](const Topology& other) {
        return other == topology || IsSameTree(other, topology, places);
      };
      if (std::none_of(different.begin(), different.end(), is_same)) different.push_back(topology);
    }
  }
  return different;
}

// A few lengths: by the rule that holds where nothing is measured (PlanSegments), all there is room
// for, halves of it, what links pass at once, and the message in up to four equal parts. Lengths
// that lead to the same segments are listed once.
std::vector<Candidate> Cuts(const MachineDescription& machine, const SegmentSettings& settings,
                            const CostQuery& query) {
  std::vector<Candidate> cuts;
  std::set<size_t> known;
  const auto add = [&](size_t length) {
    CostQuery cut = query;
    cut.segment_bytes = length;
    if (!known.insert(PlanOf(machine, settings, cut).segment_bytes).second) return;
    cuts.push_back({query.topology, length, PredictCost(machine, settings, cut)});
  };
  const size_t most_bytes = MostPayload(settings);
  add(0);
  add(most_bytes);
  const auto try_length = [&](size_t length) {
    if (length >= rules::kLeastSegmentBytes && length < std::min(most_bytes, query.bytes))
      add(length);
  };
  for (size_t length = most_bytes / 2; length >= rules::kLeastSegmentBytes; length /= 2)
    try_length(length);
  try_length(machine.between_hosts.burst_bytes);
  for (const size_t segments : {2, 3, 4}) try_length((query.bytes + segments - 1) / segments);
  return cuts;
}

// The rule's, if its prediction is as good as any within the model's error: measurements set the
// rule. Else, of those that are equally good, the longest: each segment costs.
Candidate BestCut(const MachineDescription& machine, const SegmentSettings& settings,
                  const CostQuery& query) {
  const std::vector<Candidate> cuts = Cuts(machine, settings, query);
  double best_us = cuts[0].cost.us;
  for (const Candidate& cut : cuts) best_us = std::min(best_us, cut.cost.us);
  const Candidate* longest = nullptr;
  for (const Candidate& cut : cuts) {
    if (cut.cost.us > rules::kAboutAsFast * best_us) continue;
    if (cut.segment_bytes == 0) return cut;
    if (longest == nullptr || cut.segment_bytes > longest->segment_bytes) longest = &cut;
  }
  return *longest;
}

// How many messages bytes go through one after the other.
int MessagesInARow(const CostQuery& query, const Topology& topology) {
  int messages = query.ranks - 1;
  if (topology.shape == Shape::kExchange) return 1;
  if (query.pattern == Pattern::kAllToAll && IsTree(topology.shape)) return 1;  // pairwise
  if (topology.shape == Shape::kHypercube || topology.shape == Shape::kCirculant) {
    messages = 0;
    for (int64_t reached = 2; reached <= query.ranks; reached *= 2) ++messages;
    return messages;
  }
  if (IsTree(topology.shape)) messages = TreeHeight(topology, query.ranks);
  return query.pattern == Pattern::kAllReduce ? 2 * messages : messages;  // there and back
}

// How many messages a rank waits for in a row, not counting the latency of the first segment.
// Shares of a reduce-scatter go round twice, segment by segment.
int64_t Segments(const CostQuery& query, const Candidate& c) {
  const bool in_shares = c.topology.shape == Shape::kReduceScatterAllgather;
  return c.cost.segments * (in_shares ? MessagesInARow(query, c.topology) : 1);
}

// Whether to take `a` rather than `b`, if both are about as fast, and the fastest takes `least_us`.
bool IsSteadier(const CostQuery& query, double least_us, const Candidate& a, const Candidate& b) {
  const auto flaws = [&](const Candidate& c) {
    const bool brief = c.cost.segments == 1;
    const bool is_graph = c.topology.shape == Shape::kCirculant;
    const bool is_fastest = c.cost.us <= rules::kAsFast * least_us;  // but for a copy
    return std::make_tuple(is_graph && !(brief && is_fastest), Segments(query, c),
                           brief ? MessagesInARow(query, c.topology) : 0);
  };
  return flaws(a) < flaws(b);
}

}  // namespace

std::vector<Candidate> RankCandidates(const MachineDescription& machine,
                                      const SegmentSettings& settings, const CostQuery& query,
                                      bool fixed) {
  std::vector<Candidate> candidates;
  CostQuery one = query;
  for (const Topology& topology :
       fixed ? std::vector<Topology>{query.topology} : TopologiesFor(machine, settings, query)) {
    one.topology = topology;
    candidates.push_back(BestCut(machine, settings, one));
  }
  std::stable_sort(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.cost.in_step != b.cost.in_step ? a.cost.in_step : a.cost.us < b.cost.us;
      });
  const Cost fastest = candidates.front().cost;
  const auto as_fast = [&](const Candidate& c) {
    const bool gathers = query.pattern == Pattern::kReduce && c.cost.segments == 1;
    return c.cost.in_step == fastest.in_step &&
           c.cost.us <= (gathers ? rules::kAboutAsFastToGather : rules::kAboutAsFast) * fastest.us;
  };
  auto chosen = candidates.begin();
  for (auto c = candidates.begin(); c != candidates.end(); ++c) {
    if (as_fast(*c) && IsSteadier(query, fastest.us, *c, *chosen)) chosen = c;
  }
  std::rotate(candidates.begin(), chosen, chosen + 1);
  return candidates;
}

std::vector<Candidate> AllCandidates(const MachineDescription& machine,
                                     const SegmentSettings& settings, const CostQuery& query) {
  std::vector<Candidate> all;
  CostQuery one = query;
  for (const Topology& topology : TopologiesFor(machine, settings, query)) {
    one.topology = topology;
    std::set<int64_t> counts;
    for (const Candidate& cut : Cuts(machine, settings, one)) {
      if (counts.insert(cut.cost.segments).second) all.push_back(cut);
    }
  }
  return all;
}

std::string DescribeCandidate(const Candidate& candidate) {
  const int64_t segments = candidate.cost.segments;
  return TopologyName(candidate.topology) + " in " + std::to_string(segments) +
         (segments == 1 ? " segment" : " segments");
}

}  // namespace brigade
