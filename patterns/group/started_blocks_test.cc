// Started gathers, all-to-alls and scans: the staging memory that they take, and starts that are
// refused.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/group/operation.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

Matrix MatrixOf(std::vector<double>* values) {
  Matrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(values->data());
  const auto rows = static_cast<int64_t>(values->size());
  Require(StridedLayout::General(rows, 1, rows, sizeof(double), &matrix.layout));
  return matrix;
}

struct Rank {
  Rank(InprocWorld& world, int rank, const EngineOptions& options = EngineOptions())
      : bootstrap(world.MakeBootstrap(rank)), endpoint(world.CreateEndpoint(rank)) {
    Require(Engine::Create(endpoint.get(), options, &engine));
    Require(Group::Create(engine.get(), bootstrap.get(), 1, bootstrap->size(), &group));
  }
  // Returns the largest number of all ranks.
  int Largest(int number) {
    std::vector<int> all(static_cast<size_t>(bootstrap->size()));
    Require(bootstrap->AllGather(&number, sizeof(number), all.data()));
    return *std::max_element(all.begin(), all.end());
  }

  std::unique_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

// Ranks whose blocks are short would wait for the refused ones.
TEST(StartedBlocks, AllRanksRefuseAnAllToAllThatIsTooLong) {
  RunRanks(3, {}, [](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 8 * 1024;
    Rank me(world, rank, options);
    std::vector<std::vector<double>> sent, received;
    for (int q = 0; q < 3; ++q) sent.emplace_back(rank > 0 && q > 0 && q != rank ? 6000 : 1);
    received = sent;
    std::vector<Matrix> from, to;
    for (size_t q = 0; q < 3; ++q) {
      from.push_back(MatrixOf(&sent[q]));
      to.push_back(MatrixOf(&received[q]));
    }
    PatternCall call;
    call.pattern = Pattern::kAllToAll;
    call.sent = from.data();
    call.blocks = to.data();
    std::unique_ptr<Operation> operation;
    EXPECT_EQ(me.group->Start(call, &operation).code(), StatusCode::kOutOfMemory);
    me.Largest(0);
  });
}

TEST(StartedBlocks, ManyShortGathersAlongATreeAreInFlightAtOnce) {
  constexpr int kCalls = 200;
  RunRanks(4, {}, [](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<std::vector<double>> blocks(4 * kCalls, std::vector<double>(1, rank));
    std::vector<Matrix> matrices;
    for (std::vector<double>& block : blocks) matrices.push_back(MatrixOf(&block));
    std::vector<std::unique_ptr<Operation>> operations;
    if (rank > 0) me.Largest(0);  // the root starts all before
    for (int i = 0; i < kCalls; ++i) {
      PatternCall call;
      call.pattern = Pattern::kGather;
      call.topology = {Shape::kTree, 2};
      call.blocks = &matrices[static_cast<size_t>(4 * i)];
      Require(me.group->Start(call, &operations.emplace_back()));
    }
    if (rank == 0) me.Largest(0);
    for (const std::unique_ptr<Operation>& operation : operations) Require(operation->Wait());
    for (size_t i = 0; rank == 0 && i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i][0], static_cast<double>(i % 4));
    }
  });
}

TEST(StartedBlocks, ARefusedScanWritesNothing) {
  RunRanks(2, {}, [](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 16 * 1024;
    Rank me(world, rank, options);
    std::vector<double> source(100, rank + 1), result(100, -1);
    PatternCall call;
    call.pattern = Pattern::kScan;
    call.topology.shape = Shape::kFree;
    call.source = MatrixOf(&source);
    call.matrix = MatrixOf(&result);
    std::vector<std::unique_ptr<Operation>> operations;
    if (rank == 0) {
      for (Status status; status.ok();) {
        result.assign(result.size(), -1);
        std::unique_ptr<Operation> operation;
        status = me.group->Start(call, &operation);
        EXPECT_EQ(result[0], status.ok() ? 1 : -1) << status.ToString();
        if (status.ok()) {
          operations.push_back(std::move(operation));
        } else {
          EXPECT_EQ(status.code(), StatusCode::kNoResource) << status.ToString();
        }
      }
    }
    const int started = me.Largest(static_cast<int>(operations.size()));
    EXPECT_GT(started, 0);
    for (const std::unique_ptr<Operation>& operation : operations) Require(operation->Wait());
    for (int i = 0; rank == 1 && i < started; ++i) {
      Require(me.group->Run(call));
      EXPECT_EQ(result[99], 3);
    }
  });
}

}  // namespace
}  // namespace brigade
