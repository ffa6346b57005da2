#include "patterns/free_topology.h"

#include "gtest/gtest.h"
#include "patterns/catalogue.h"

namespace brigade {
namespace {

TEST(FreeTopology, IsOneThePatternKnows) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const int ranks : {2, 3, 64}) {
      for (const size_t bytes : {size_t{8}, size_t{1} << 20}) {
        for (const bool shares_memory : {false, true}) {
          const Topology topology = FreeTopology(entry.pattern, ranks, bytes, shares_memory);
          EXPECT_FALSE(topology.shape == Shape::kFree);
          EXPECT_TRUE(CheckTopology(entry.pattern, topology).ok()) << entry.name;
        }
      }
    }
  }
}

TEST(FreeTopology, OfACombineDoesNotDependOnTheTransport) {
  for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce}) {
    for (const int ranks : {2, 3, 8, 64}) {
      for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2) {
        EXPECT_TRUE(FreeTopology(pattern, ranks, bytes, false) ==
                    FreeTopology(pattern, ranks, bytes, true));
      }
    }
  }
}

}  // namespace
}  // namespace brigade
