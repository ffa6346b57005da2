// Groups that are made of a group of an MPI communicator, over every transport of an MPI job.

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/all_patterns.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

class GroupSplitMpiTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, GroupSplitMpiTest,
                         ::testing::Values("mpi", "shm", "tcp", "auto"),
                         [](const auto& test) { return test.param; });

TEST_P(GroupSplitMpiTest, Splits) {
  std::unique_ptr<Endpoint> endpoint;
  const Status created = CreateEndpoint(GetParam(), &endpoint);
  ASSERT_TRUE(created.ok()) << created.ToString();
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(Engine::Create(endpoint.get(), EngineOptions(), &engine).ok());
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  const int rank = bootstrap.rank();
  std::unique_ptr<Group> group;
  ASSERT_TRUE(Group::Create(engine.get(), &bootstrap, 1, bootstrap.size(), &group).ok());
  // More than the carriers that the transport mpi keeps.
  std::vector<std::unique_ptr<Group>> kept;
  for (int i = 0; i < 20; ++i) {
    std::unique_ptr<Group> part;
    const Status split = group->Split((rank + i) % 2, i % 3 - rank, &part);
    ASSERT_TRUE(split.ok()) << split.ToString();
    RunAllPatterns(part.get(), 3000);
    if (i % 5 == 0) kept.push_back(std::move(part));
  }
  std::unique_ptr<Group> grid;
  const Status made = group->FromRanks({3, 0, 2, 1}, 2, 2, &grid);
  ASSERT_TRUE(made.ok()) << made.ToString();
  for (const auto& part : kept) RunAllPatterns(part.get(), 3000);
  group.reset();  // the others go on without it
  RunAllPatterns(grid.get(), 3000);
  ASSERT_TRUE(grid->Run(PatternCall()).ok());
  ASSERT_TRUE(engine->Drain().ok());
  MPI_Barrier(MPI_COMM_WORLD);  // an endpoint that goes is a lost rank
}

}  // namespace
}  // namespace brigade
