#include "patterns/free_topology.h"

#include "gtest/gtest.h"
#include "patterns/catalogue.h"

namespace brigade {
namespace {

// Different enough for a broadcast to go different ways.
std::vector<Capabilities> Transports() {
  Capabilities shared;
  shared.lands_in_peer_memory = true;
  Capabilities slow;
  slow.piece_cost_bytes = 512;
  return {Capabilities(), shared, slow};
}

TEST(FreeTopology, IsOneThePatternKnows) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const int ranks : {2, 3, 64}) {
      for (const size_t bytes : {size_t{8}, size_t{1} << 20}) {
        for (const Capabilities& transport : Transports()) {
          const Topology topology = FreeTopology(entry.pattern, ranks, bytes, transport);
          EXPECT_FALSE(topology.shape == Shape::kFree);
          EXPECT_TRUE(CheckTopology(entry.pattern, topology).ok()) << entry.name;
        }
      }
    }
  }
}

TEST(FreeTopology, OfACombineDoesNotDependOnTheTransport) {
  for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
    for (const int ranks : {3, 8, 64}) {
      for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2) {
        for (const Capabilities& transport : Transports()) {
          EXPECT_TRUE(FreeTopology(pattern, ranks, bytes, transport) ==
                      FreeTopology(pattern, ranks, bytes, Capabilities()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade
