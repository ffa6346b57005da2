// Calls that do not match end on all ranks with an error that names both, over the transports of an
// MPI job; each process is one rank.

#include <mpi.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/patterns/mismatch_cases.h"
#include "test/support/stress.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

// Without a call of the library, and without burning the processor of those that still wait.
void AwaitAll() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; !done; std::this_thread::sleep_for(std::chrono::microseconds(200))) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

class MpiMismatches : public testing::TestWithParam<const char*> {};

TEST_P(MpiMismatches, EndOnAllRanks) {
  // Ranks that are threads try all cases every time. Over MPI each case waits a second for sends
  // without a receive.
  const bool over_mpi = GetParam() == std::string("mpi");
  const size_t stride = FullStress() ? 1 : over_mpi ? 11 : 3;
  for (size_t i = 0; i < MismatchCases().size(); ++i) {
    const MismatchCase& tested = MismatchCases()[i];
    // Two roots each wait until the other receives, and over MPI neither sees the other's message.
    const bool is_of_roots = tested.name == "scatter with root 3 of 3000";
    if (i % stride != 0 && !is_of_roots) continue;
    // Messages that a broken group has sent over MPI, and that were not received, keep their
    // memory.
    std::unique_ptr<Endpoint> endpoint;
    ASSERT_TRUE(CreateEndpoint(GetParam(), &endpoint).ok());
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(Engine::Create(endpoint.get(), MismatchOptions(), &engine).ok());
    std::unique_ptr<Group> group;
    {
      MpiBootstrap bootstrap(MPI_COMM_WORLD);
      ASSERT_TRUE(Group::Create(engine.get(), &bootstrap, 2, 2, &group).ok());
    }
    EXPECT_EQ(WrongOutcome(tested, RunCase(group.get(), tested), /*goes_on=*/true), "")
        << "rank " << group->rank();
    AwaitAll();
    group.reset();
    // Over MPI the end of the engine waits the same second once more.
    if (!over_mpi || i == 0) {
      EXPECT_TRUE(engine->Drain().ok());
    }
    AwaitAll();
  }
}

INSTANTIATE_TEST_SUITE_P(Over, MpiMismatches, testing::Values("mpi", "shm", "tcp", "auto"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace brigade
