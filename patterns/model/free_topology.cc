#include "patterns/model/free_topology.h"

#include <algorithm>

#include "patterns/schedule/piece_plan.h"

namespace brigade {
namespace {

constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kWide{Shape::kTree, 8};
constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr Topology kDealt{Shape::kDealt, 0};
constexpr Topology kHypercube{Shape::kHypercube, 0};
constexpr size_t kShortBytes = 2048;
// As many portions as half of these have room in the smallest chunk there may be.
constexpr int kMostOnCirculant = 120;
static_assert(kMostOnCirculant / 2 * 16 <= kLeastChunkBytes - kHeaderRoom);
// A ring of slow links takes a shorter time than a tree from here on (measured on 4 and 8 hosts:
// 16 KiB 0.6 of the tree's, 8 KiB 1.6).
constexpr size_t kFillsRingBytes = size_t{16} << 10;
// Where one order must do for all transports. On slow links the ring is the faster from 16 KiB on
// (16 KiB 0.7 of the tree's, 32 KiB 0.5), and dealing (16 KiB 0.7, 32 KiB 0.4); in shared memory
// the tree, up to 64 KiB by 15 to 40 % where eight ranks shared two processors, and dealing from
// 1 MiB on. Measured on 8 ranks; with more of them the messages in a row are more, too.
constexpr size_t kLongBytes = size_t{8} << 10;
constexpr size_t kLongBytesPerRank = size_t{1} << 10;
// Sums to all in between, where every rank has a partner in each dimension: the hypercube has half
// of the tree's messages in a row and far fewer than dealing. On slow links it takes 0.7 of the
// tree's time and 0.6 of dealing's for 16 KiB (1.1 for 32 KiB), in shared memory 0.95 and 0.4.
constexpr size_t kDealtBytes = size_t{24} << 10;
// Sums of any order in shared memory, where everybody reads what lies at another's: the fewest
// copies and waits, until one rank's work on all contributions takes the longest. Of the time of
// what floating sums take on 8, 16 and 32 ranks of two processors: reductions of 16 KiB 0.7, 0.9
// and 0.8 (64 KiB on 8 ranks 0.7), sums to all of 64 KiB 0.7, 0.5 and 0.4, of 128 KiB 0.8, 0.6
// and 0.4. Ranks that share processors anyway do one's work after the other's: there it is the
// fastest at any length (256 KiB to 16 MiB on 3, 5 and 8 ranks 0.7 to 1.0 of the time of ring and
// dealing). Not measured with a processor for each rank.
constexpr size_t kWideBytes = size_t{128} << 10;

}  // namespace

Topology FreeTopology(Pattern pattern, const Ranks& ranks, size_t bytes, bool order_free) {
  const bool by_host = order_free && ranks.hosts > 1 && ranks.hosts < ranks.count;
  const int nodes = by_host ? ranks.hosts : ranks.count;
  const bool share_memory = ranks.hosts == 1 && ranks.transport->lands_in_peer_memory;
  const bool all_alike = ranks.hosts == ranks.count || (ranks.hosts == 1 && !share_memory);
  const size_t ranks_bytes = kLongBytesPerRank * static_cast<size_t>(ranks.count);
  Topology topology;
  switch (pattern) {
    case Pattern::kBroadcast:
      if (share_memory) return kWide;
      topology = ranks.transport->piece_cost_bytes > 0 && nodes > 2 && bytes >= kFillsRingBytes
                     ? kRing
                     : kBinomial;
      break;
    case Pattern::kAllReduce:
    case Pattern::kReduce: {
      if (order_free && share_memory && ranks.count > 2 && (bytes <= kWideBytes || ranks.crowded)) {
        return kWide;
      }
      const bool partners =
          pattern == Pattern::kAllReduce && !by_host && (ranks.count & (ranks.count - 1)) == 0;
      const size_t long_bytes = std::max(kLongBytes, ranks_bytes);
      if (bytes > std::max(long_bytes, partners ? kDealtBytes : 0)) {
        topology = pattern == Pattern::kReduce || by_host ? kRing : kDealt;
      } else if (bytes > kLongBytes && partners) {
        topology = kHypercube;
      } else {
        topology = by_host || bytes > kShortBytes ? kBinomial : kWide;
      }
      // Two ranks have one order only, so they may exchange; in shared memory only short
      // messages do, because a tree copies less, and so do shares.
      if (pattern == Pattern::kAllReduce && ranks.count == 2) {
        const bool exchange = bytes <= kShortBytes || !ranks.transport->lands_in_peer_memory;
        topology = exchange ? kHypercube : bytes > kLongBytes ? kDealt : kBinomial;
      }
      break;
    }
    case Pattern::kMultiBroadcast:
    case Pattern::kMultiReduce:
      // Of a sum hosts and transport must make no difference.
      topology = (all_alike || !order_free) && ranks.count > 2 && ranks.count <= kMostOnCirculant &&
                         bytes <= std::max(kFillsRingBytes, ranks_bytes)
                     ? kCirculant
                     : kRing;
      break;
    default:
      return topology;
  }
  topology.by_host = by_host;
  return topology;
}

}  // namespace brigade
