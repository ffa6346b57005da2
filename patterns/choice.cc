#include "patterns/choice.h"

#include <algorithm>
#include <cmath>

#include "patterns/catalogue.h"

namespace brigade {
namespace {

// Shorter ones are all costs and no bytes.
constexpr size_t kLeastPieceBytes = 512;

// Shapes that differ on this number of ranks.
std::vector<Topology> TopologiesFor(const CostQuery& query) {
  std::vector<Topology> topologies = EntryOf(query.pattern).topologies;
  if (topologies.empty()) topologies.emplace_back();
  std::vector<Topology> different;
  for (Topology topology : topologies) {
    if (topology.shape == Shape::kIncreasingRings || topology.shape == Shape::kDecreasingRings) {
      topology.parameter = std::min(topology.parameter, std::max(query.ranks - 1, 1));
    }
    if (topology.shape == Shape::kTree) {
      topology.parameter = std::min(topology.parameter, std::max(query.ranks, 2));
    }
    if (topology.shape == Shape::kDecreasingRings) continue;  // as fast as increasing ones
    topology.by_host = query.topology.by_host && topology.shape != Shape::kHypercube;
    if (std::find(different.begin(), different.end(), topology) == different.end()) {
      different.push_back(topology);
    }
  }
  return different;
}

// `query` cut into pieces of this length.
Candidate Predict(const MachineDescription& machine, const PieceSettings& settings,
                  const CostQuery& query, size_t piece_bytes) {
  CostQuery cut = query;
  cut.piece_bytes = piece_bytes;
  return {query.topology, piece_bytes, PredictCost(machine, settings, cut)};
}

// Where n pieces of B bytes in all take f + n g and, for the way of one, h B/n: the best length.
// Found from two lengths, since all of these are nearly linear in between.
Candidate BestCut(const MachineDescription& machine, const PieceSettings& settings,
                  const CostQuery& query) {
  const size_t most_bytes = MostPayload(settings);
  const size_t bytes = std::max<size_t>(query.bytes, 1);
  Candidate best = Predict(machine, settings, query, most_bytes);
  const auto try_pieces = [&](double pieces) {
    const double rounded = std::max(std::round(pieces), 1.0);
    const auto length = static_cast<size_t>(std::ceil(static_cast<double>(bytes) / rounded));
    if (length < kLeastPieceBytes || length > most_bytes) return;
    const Candidate candidate = Predict(machine, settings, query, length);
    if (candidate.cost.us < best.cost.us) best = candidate;
  };
  if (bytes <= kLeastPieceBytes) return best;
  const auto total = static_cast<double>(bytes);
  const double longer = std::min(total / 2, static_cast<double>(most_bytes));
  const double shorter = std::max(longer / 8, static_cast<double>(kLeastPieceBytes));
  const Cost few = Predict(machine, settings, query, static_cast<size_t>(longer)).cost;
  const Cost many = Predict(machine, settings, query, static_cast<size_t>(shorter)).cost;
  const double first_slope = (few.first_us - many.first_us) / (longer - shorter);
  const double piece_slope = (few.piece_us - many.piece_us) / (longer - shorter);
  const double per_piece_us = many.piece_us - piece_slope * shorter;
  if (first_slope > piece_slope && per_piece_us > 0) {
    const double pieces = std::sqrt(total * (first_slope - piece_slope) / per_piece_us);
    for (const double factor : {0.5, 0.71, 1.0, 1.41, 2.0}) try_pieces(pieces * factor);
  }
  for (const double pieces : {1.0, 2.0, 3.0, 4.0}) try_pieces(pieces);
  try_pieces(total / shorter);
  return best;
}

}  // namespace

std::vector<Candidate> RankCandidates(const MachineDescription& machine,
                                      const PieceSettings& settings, const CostQuery& query,
                                      bool fixed) {
  std::vector<Candidate> candidates;
  CostQuery one = query;
  for (const Topology& topology :
       fixed ? std::vector<Topology>{query.topology} : TopologiesFor(query)) {
    one.topology = topology;
    candidates.push_back(BestCut(machine, settings, one));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost.us < b.cost.us; });
  return candidates;
}

std::string TopologyName(const Topology& topology) {
  const std::string number = std::to_string(topology.parameter);
  std::string name;
  switch (topology.shape) {
    case Shape::kTree:
      name = topology.parameter == 2 ? "binomial tree" : number + "-nomial tree";
      break;
    case Shape::kIncreasingRings:
      name = topology.parameter == 1 ? "increasing ring" : number + " increasing rings";
      break;
    case Shape::kDecreasingRings:
      name = topology.parameter == 1 ? "decreasing ring" : number + " decreasing rings";
      break;
    case Shape::kSplitRing:
      name = "split ring";
      break;
    case Shape::kHypercube:
      name = "hypercube";
      break;
    case Shape::kDealt:
      name = "dealt";
      break;
    case Shape::kFree:
      name = "free";
      break;
  }
  return topology.by_host ? name + " by host" : name;
}

}  // namespace brigade
