#include "patterns/free_topology.h"

namespace brigade {
namespace {

constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kWide{Shape::kTree, 8};
constexpr size_t kShortBytes = 2048;

}  // namespace

Topology FreeTopology(Pattern pattern, int ranks, size_t bytes, bool shares_memory) {
  switch (pattern) {
    case Pattern::kBroadcast:
      return shares_memory ? kWide : kBinomial;
    case Pattern::kAllReduce:
      if (bytes > kShortBytes) return kBinomial;
      return ranks == 2 ? Topology{Shape::kHypercube, 0} : kWide;
    case Pattern::kReduce:
      return bytes <= kShortBytes ? kWide : kBinomial;
    default:
      return Topology();
  }
}

}  // namespace brigade
