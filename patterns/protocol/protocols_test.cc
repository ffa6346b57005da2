#include "patterns/protocol/protocols.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/plan/plan.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "test/support/protocol_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

// Messages from two ranks that share memory, and from two ranks that do not.
TEST(ListProtocols, OnlyRanksThatShareMemoryHaveProtocolsOfSharedMemory) {
  for (const bool shares_memory : {false, true}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      std::unique_ptr<Endpoint> endpoint =
          shares_memory ? GroupMember::OverShm() : world.CreateEndpoint(rank);
      ProtocolMember me(world, rank, std::move(endpoint), EngineOptions());
      for (const CatalogueEntry& entry : Catalogue()) {
        for (const size_t bytes : {size_t{8}, size_t{1} << 20}) {
          PatternCall call;
          call.pattern = entry.pattern;
          call.topology = {Shape::kFree, 0};
          call.root = IsPair(entry.pattern) ? 1 - rank : 0;
          call.matrix.layout = StridedLayout::Contiguous(bytes);
          const std::vector<Matrix> blocks(2, call.matrix);
          call.blocks = call.sent = blocks.data();
          const Plan& plan = me.PlanOf(call);
          const auto end = plan.protocols + plan.protocol_count;
          const bool any = std::any_of(
              plan.protocols, end, [](const Protocol* protocol) { return protocol->over_edges; });
          EXPECT_EQ(any, shares_memory) << entry.name << " of " << bytes << " bytes";
          EXPECT_EQ(end[-1], &kPipelined) << entry.name << " of " << bytes << " bytes";
        }
      }
      Meet(world, rank);
    });
  }
}

}  // namespace
}  // namespace brigade
