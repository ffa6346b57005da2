#include "patterns/schedule/topology.h"

namespace brigade {

std::string TopologyName(const Topology& topology) {
  const std::string number = std::to_string(topology.parameter);
  const std::string tree = topology.parameter == 2               ? "binomial tree"
                           : topology.parameter >= kFlatBranches ? "flat tree"
                                                                 : number + "-nomial tree";
  std::string name;
  switch (topology.shape) {
    case Shape::kTree:
      name = tree;
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
    case Shape::kReduceScatterAllgather:
      name = "reduce-scatter + allgather";
      break;
    case Shape::kTwoTree:
      name = "two trees";
      break;
    case Shape::kCirculant:
      name = "circulant graph";
      break;
    case Shape::kExchange:
      name = "exchange (order of the " + tree + ")";
      break;
    case Shape::kFree:
      name = "free";
      break;
  }
  return topology.by_host ? name + " by host" : name;
}

}  // namespace brigade
