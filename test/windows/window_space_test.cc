// Windows that are made while sends have the staging memory. The ranks are threads.

#include "windows/message/window_space.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/group/group.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr int kMessages = 200;

// Rank 0 has sent more than staging memory holds, and makes windows; rank 1 begins to receive a
// little later, or once rank 0 has given up.
Status MakeBehindSends(double wait_seconds, bool receives) {
  Status made;
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 16 * 1024;
    options.overflow_wait_seconds = wait_seconds;
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Group> group;
    ASSERT_TRUE(Engine::Create(endpoint.get(), options, &engine).ok());
    ASSERT_TRUE(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, 2, &group).ok());
    std::vector<double> data(100);
    PatternCall call;
    call.pattern = rank == 0 ? Pattern::kSend : Pattern::kReceive;
    call.root = 1 - rank;
    call.matrix.data = reinterpret_cast<std::byte*>(data.data());
    ASSERT_TRUE(StridedLayout::General(100, 1, 100, sizeof(double), &call.matrix.layout).ok());
    const auto all = [&] {
      for (int i = 0; i < kMessages; ++i) ASSERT_TRUE(group->Run(call).ok());
    };
    const auto meet = [&] {
      char both[2];
      ASSERT_TRUE(world.MakeBootstrap(rank)->AllGather("", 1, both).ok());
    };
    if (rank == 0) all();
    meet();
    if (rank == 0) {
      std::unique_ptr<WindowSpace> space;
      made = WindowSpace::Create(engine.get(), &space);
    }
    if (!receives) meet();
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      all();
    }
    EXPECT_TRUE(engine->Drain().ok());
    meet();
  });
  return made;
}

TEST(WindowSpace, WaitsForMemoryThatSendsHave) {
  const Status made = MakeBehindSends(/*wait_seconds=*/100, /*receives=*/true);
  EXPECT_TRUE(made.ok()) << made.ToString();
}

TEST(WindowSpace, DoesNotWaitForEver) {
  const Status made = MakeBehindSends(/*wait_seconds=*/0.05, /*receives=*/false);
  EXPECT_EQ(made.code(), StatusCode::kOutOfMemory) << made.ToString();
}

}  // namespace
}  // namespace brigade
