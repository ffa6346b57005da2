// A failure on one rank ends the calls of all, over the transports of an MPI job; each process is
// one rank. A failed rank makes at most MPI calls.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
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

class MpiFailures : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  void TearDown() override { Leave(); }

  // On an engine of its own: messages that a broken group has sent over MPI, without a receive,
  // keep their memory.
  void NewGroup() {
    Leave();
    ASSERT_OK(CreateEndpoint(GetParam(), &endpoint_));
    ASSERT_OK(Engine::Create(endpoint_.get(), EngineOptions(), &engine_));
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    ASSERT_OK(Group::Create(engine_.get(), &bootstrap, 1, ranks_, &group_));
  }
  void Leave() {
    group_.reset();
    if (engine_ != nullptr && drains_) {
      EXPECT_TRUE(engine_->Drain().ok());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    engine_.reset();
    endpoint_.reset();
  }

  PatternCall Call(Pattern pattern, size_t elems) {
    PatternCall call;
    call.pattern = pattern;
    data_.resize(static_cast<size_t>(ranks_) + 1);
    blocks_.clear();
    for (std::vector<double>& block : data_) {
      block.resize(elems);
      Matrix matrix;
      matrix.data = reinterpret_cast<std::byte*>(block.data());
      const auto rows = static_cast<int64_t>(elems);
      EXPECT_TRUE(StridedLayout::General(rows, 1, rows, sizeof(double), &matrix.layout).ok());
      blocks_.push_back(matrix);
    }
    call.matrix = blocks_.back();
    call.blocks = blocks_.data();
    const std::vector<Topology>& topologies = EntryOf(pattern).topologies;
    if (!topologies.empty()) call.topology = topologies.front();
    return call;
  }

  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Group> group_;
  bool drains_ = true;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<std::vector<double>> data_;
  std::vector<Matrix> blocks_;
};

TEST_P(MpiFailures, ARankThatDisagreesEndsTheCallsOfAll) {
  // Over MPI the end of the engine waits a second, too, for sends without a receive.
  drains_ = GetParam() != std::string("mpi");
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce,
                                Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    // Short, in segments, and too long for MPI to send without the receiver.
    for (const size_t elems : {size_t{10}, size_t{3000}, size_t{300000}}) {
      SCOPED_TRACE(std::string(PatternName(pattern)) + " of " + std::to_string(elems));
      NewGroup();
      const int wrong = static_cast<int>(elems / 10) % ranks_;
      Status status;
      if (rank_ == wrong) status = group_->Run(Call(pattern, elems + 1));
      const PatternCall call = Call(pattern, elems);
      while (status.ok()) status = group_->Run(call);
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
      EXPECT_EQ(group_->Run(call).ToString(), status.ToString());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_P(MpiFailures, AnAbortEndsTheCallsOfAll) {
  for (const bool late : {false, true}) {
    NewGroup();
    const PatternCall call = Call(Pattern::kAllReduce, 100);
    Status status;
    // The first rank that has made them aborts while others are in the last one.
    for (int i = 0; late && status.ok() && i < 1000; ++i) status = group_->Run(call);
    if (rank_ == ranks_ - 1) group_->Abort("enough");
    while (status.ok()) status = rank_ % 2 == 0 ? group_->Run(call) : group_->failure();
    EXPECT_EQ(status.ToString(),
              "aborted: rank " + std::to_string(ranks_ - 1) + " of the group aborted it: enough");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

INSTANTIATE_TEST_SUITE_P(Over, MpiFailures, testing::Values("mpi", "shm", "tcp", "auto"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace brigade
