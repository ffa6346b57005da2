// Many non-blocking operations at once, over MPI's own messages. Each process is one rank.

#include <mpi.h>

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

#define ASSERT_OK(expr)                                    \
  do {                                                     \
    const Status assert_ok_ = (expr);                      \
    ASSERT_TRUE(assert_ok_.ok()) << assert_ok_.ToString(); \
  } while (0)

// With the settings that users get, and a long blocking call among them.
TEST(ManyOperationsOverMpi, SixtyFourShortOnesAreOutstandingAtOnce) {
  constexpr size_t kAtOnce = 64;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  ASSERT_OK(CreateEndpoint("mpi", &endpoint));
  ASSERT_OK(Engine::Create(endpoint.get(), EngineOptions(), &engine));
  ASSERT_OK(Group::Create(engine.get(), &bootstrap, 1, ranks, &group));
  const auto call = [](Pattern pattern, std::vector<double>* data) {
    PatternCall result;
    result.pattern = pattern;
    result.matrix.data = reinterpret_cast<std::byte*>(data->data());
    const auto elems = static_cast<int64_t>(data->size());
    EXPECT_TRUE(
        StridedLayout::General(elems, 1, elems, sizeof(double), &result.matrix.layout).ok());
    return result;
  };

  std::vector<std::vector<double>> data(kAtOnce, std::vector<double>(1, rank + 1));
  std::vector<std::unique_ptr<Operation>> operations(kAtOnce);
  // No sum is there before the last rank starts.
  if (rank == ranks - 1) MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < kAtOnce; ++i) {
    ASSERT_OK(group->Start(call(i % 4 == 3 ? Pattern::kReduce : Pattern::kAllReduce, &data[i]),
                           &operations[i]));
  }
  if (rank != ranks - 1) MPI_Barrier(MPI_COMM_WORLD);
  std::vector<double> long_one(100000, rank);
  ASSERT_OK(group->Run(call(Pattern::kAllReduce, &long_one)));
  const int sum = ranks * (ranks - 1) / 2;
  EXPECT_EQ(long_one, std::vector<double>(long_one.size(), sum));
  for (size_t i = 0; i < kAtOnce; ++i) {
    ASSERT_OK(operations[i]->Wait());
    const bool sums = i % 4 != 3 || rank == 0;
    EXPECT_EQ(data[i][0], sums ? sum + ranks : rank + 1) << i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace brigade
