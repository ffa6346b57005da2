#include "patterns/free_topology.h"

namespace brigade {
namespace {

constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kWide{Shape::kTree, 8};
constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr size_t kShortBytes = 2048;
// A ring of slow links takes a shorter time than a tree from about here on.
constexpr size_t kFillsRingBytes = size_t{16} << 10;
constexpr size_t kLongBytes = size_t{32} << 10;

}  // namespace

Topology FreeTopology(Pattern pattern, int ranks, size_t bytes, const Capabilities& transport) {
  switch (pattern) {
    case Pattern::kBroadcast:
      if (transport.lands_in_peer_memory) return kWide;
      return transport.piece_cost_bytes > 0 && ranks > 2 && bytes >= kFillsRingBytes ? kRing
                                                                                     : kBinomial;
    case Pattern::kAllReduce:
      // Two ranks have one order only.
      if (ranks == 2 && !transport.lands_in_peer_memory) return {Shape::kHypercube, 0};
      if (bytes > kShortBytes) return bytes > kLongBytes ? kRing : kBinomial;
      return ranks == 2 ? Topology{Shape::kHypercube, 0} : kWide;
    case Pattern::kReduce:
      if (bytes > kShortBytes) return bytes > kLongBytes ? kRing : kBinomial;
      return kWide;
    default:
      return Topology();
  }
}

}  // namespace brigade
