#include "patterns/model/free_topology.h"

#include <algorithm>

#include "patterns/catalogue/exchange.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kWide{Shape::kTree, rules::kWideBranches};
constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr Topology kReduceScatterAllgather{Shape::kReduceScatterAllgather, 0};
constexpr Topology kHypercube{Shape::kHypercube, 0};
// The bits of a wide tree.
constexpr Topology kExchange{Shape::kExchange, rules::kWideBranches};
// Half of all blocks are in one message of a circulant graph, which has room for an element of
// each. Along a tree by host, a message may have all blocks but those of the root's host: 8 bytes
// of each are enough, since gathers and scatters cut blocks anywhere.
static_assert(rules::kMostRanksOnCirculant / 2 * 16 <= kLeastChunkBytes - kHeaderRoom);

}  // namespace

Topology FreeTopology(Pattern pattern, const Ranks& ranks, size_t bytes, bool order_free) {
  const bool by_host = order_free && ranks.hosts > 1 && ranks.hosts < ranks.count;
  const int nodes = by_host ? ranks.hosts : ranks.count;
  const bool share_memory = ranks.hosts == 1 && ranks.transport->lands_in_peer_memory;
  const bool all_alike = ranks.hosts == ranks.count || (ranks.hosts == 1 && !share_memory);
  const size_t ranks_bytes = rules::kLongSumBytesPerRank * static_cast<size_t>(ranks.count);
  Topology topology;
  switch (pattern) {
    case Pattern::kBroadcast:
      if (share_memory) return kWide;
      topology =
          ranks.transport->tuning.segment_cost_bytes > 0 && nodes > 2 && bytes >= rules::kRingBytes
              ? kRing
              : kBinomial;
      break;
    case Pattern::kAllReduce:
    case Pattern::kReduce: {
      const int most =
          pattern == Pattern::kAllReduce ? rules::kMostRanksOnExchange : rules::kMostRanksGathered;
      const bool exchanges = share_memory && ranks.count <= most && bytes <= rules::kExchangeBytes;
      if (order_free && share_memory && ranks.count > 2 &&
          (bytes <= rules::kWideSumBytes || ranks.crowded)) {
        return exchanges ? kExchange : kWide;
      }
      const bool partners =
          pattern == Pattern::kAllReduce && !by_host && (ranks.count & (ranks.count - 1)) == 0;
      const size_t long_bytes = std::max(rules::kLongSumBytes, ranks_bytes);
      if (bytes > std::max(long_bytes, partners ? rules::kHypercubeBytes : 0)) {
        topology = pattern == Pattern::kReduce || by_host ? kRing : kReduceScatterAllgather;
      } else if (bytes > rules::kLongSumBytes && partners) {
        topology = kHypercube;
      } else {
        topology = by_host || bytes > rules::kShortSumBytes ? kBinomial
                   : exchanges                              ? kExchange
                                                            : kWide;
      }
      // Two ranks have one order only, so they may exchange.
      if (pattern == Pattern::kAllReduce && ranks.count == 2) {
        const bool in_shares =
            ranks.transport->lands_in_peer_memory && bytes > rules::kPairSumBytes;
        topology = in_shares ? kReduceScatterAllgather : kHypercube;
      }
      break;
    }
    case Pattern::kMultiBroadcast:
    case Pattern::kMultiReduce: {
      const bool exchanges = pattern == Pattern::kMultiReduce &&
                             ExchangesBlocks(kCirculant, ranks.count, share_memory);
      // Of a sum hosts and transport must make no difference.
      topology = (all_alike || !order_free || exchanges) && ranks.count > 2 &&
                         ranks.count <= rules::kMostRanksOnCirculant &&
                         bytes <= std::max(rules::kRingBytes, ranks_bytes)
                     ? kCirculant
                     : kRing;
      break;
    }
    case Pattern::kGather:
    case Pattern::kScatter: {
      const bool is_short =
          bytes <= rules::kLongBlocksBytes && ranks.count <= rules::kMostRanksOnCirculant;
      if (share_memory || !is_short) return {Shape::kTree, kFlatBranches};
      topology = kBinomial;
      break;
    }
    case Pattern::kAllToAll:
      return kRing;  // pairwise
    case Pattern::kScan:
    case Pattern::kExscan:
      return bytes > std::max(rules::kLongScanBytes, ranks_bytes) ? kRing : kHypercube;
    default:
      return topology;
  }
  topology.by_host = by_host;
  return topology;
}

}  // namespace brigade
