// The scale of the simulator: one broadcast of 64 chunks to as many ranks as the argument, by the
// engine that runs on real transports, lengths only.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

int g_ranks = 4096;

constexpr size_t kChunkBytes = size_t{32} << 10;
constexpr int kChunks = 64;
constexpr size_t kPeakBytes = size_t{8} << 30;  // for 65,536 ranks

size_t PeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

TEST(SimScale, ABroadcastOf64Chunks) {
  MachineDescription machine;
  const Status read = MachineDescription::Read("transport/machines/fat_nodes_100g.json", &machine);
  ASSERT_TRUE(read.ok()) << read.ToString();
  SimOptions options;
  options.carries_payload = false;
  options.stack_bytes = size_t{64} << 10;
  SimWorld world(machine, g_ranks, options);

  PatternCall call;
  call.pattern = Pattern::kBroadcast;
  call.topology = {Shape::kTree, 2};
  call.matrix.layout = StridedLayout::Contiguous(kChunks * (kChunkBytes - 64));
  std::byte nothing{};
  call.matrix.data = &nothing;  // never touched
  double last_us = 0;
  const Status ran = world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions engine_options;
    engine_options.chunk_bytes = kChunkBytes;
    engine_options.staging_bytes = 16 * kChunkBytes;
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(Engine::Create(endpoint.get(), engine_options, &engine).ok());
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
    std::unique_ptr<Group> group;
    ASSERT_TRUE(Group::Create(engine.get(), bootstrap.get(), 1, g_ranks, &group).ok());
    OperationStatistics statistics;
    const Status status = group->Run(call, &statistics);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(statistics.segments, static_cast<uint64_t>(kChunks));
    last_us = std::max(last_us, world.Clock(rank));
  });
  ASSERT_TRUE(ran.ok()) << ran.ToString();
  std::printf("%d ranks: %.1f us in virtual time, %.2f GB of memory\n", g_ranks, last_us,
              static_cast<double>(PeakBytes()) * 1e-9);
  EXPECT_LT(PeakBytes(), kPeakBytes);
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) brigade::g_ranks = std::atoi(argv[1]);
  return RUN_ALL_TESTS();
}
