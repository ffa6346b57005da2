// The completion of started calls by the C interface: what it ends, and how often it progresses.

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "brigade/calls.h"
#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/core/forwarding_endpoint.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

// Counts the progress passes of its rank.
class CountingEndpoint final : public ForwardingEndpoint {
 public:
  CountingEndpoint(std::unique_ptr<Endpoint> target, int* passes)
      : ForwardingEndpoint(std::move(target)), passes_(passes) {}

  bool Progress() override {
    ++*passes_;
    return ForwardingEndpoint::Progress();
  }

 private:
  int* const passes_;
};

constexpr size_t kOperations = 8;
constexpr double kSent[kOperations] = {0, 1, 2, 3, 4, 5, 6, 7};

// One of two ranks, with its handles.
struct Member {
  Member(InprocWorld& of, int number) : world(of), rank(number) {
    engine.endpoint = std::make_unique<CountingEndpoint>(world.CreateEndpoint(rank), &passes);
    Require(Engine::Create(engine.endpoint.get(), EngineOptions(), &engine.engine));
    group.engine = &engine;
    Require(
        Group::Create(engine.engine.get(), world.MakeBootstrap(rank).get(), 1, 2, &group.group));
  }
  // Rank 0 starts receives, in the reverse order of the array.
  void StartReceives() {
    for (size_t i = 0; i < kOperations; ++i) {
      const brigade_matrix matrix = {&got[i], 1, 1, 0};
      ASSERT_EQ(brigade_recv_start(&group, &matrix, BRIGADE_DOUBLE, 1, nullptr,
                                   &operations[kOperations - 1 - i]),
                BRIGADE_OK);
    }
  }
  // Rank 1 sends messages `first` to `end` - 1 once rank 0 calls this, too. The next pass of rank 0
  // receives them.
  void Send(size_t first, size_t end) {
    Meet(world, rank);
    for (size_t i = first; rank == 1 && i < end; ++i) {
      const brigade_matrix matrix = {const_cast<double*>(&kSent[i]), 1, 1, 0};
      ASSERT_EQ(brigade_send(&group, &matrix, BRIGADE_DOUBLE, 0, nullptr), BRIGADE_OK);
    }
    Meet(world, rank);
  }
  // Returns the passes since the last call.
  int Passes() { return std::exchange(passes, 0); }

  InprocWorld& world;
  const int rank;
  int passes = 0;
  brigade_engine engine;
  brigade_group group;
  std::array<double, kOperations> got = {};
  std::array<brigade_operation*, kOperations> operations = {};
};

TEST(Completion, ProgressesOncePerRound) {
  RunRanks(2, {}, [](InprocWorld& world, int rank) {
    Member me(world, rank);
    if (rank == 1) {
      me.Send(0, 1);
      me.Send(1, kOperations);
      return Meet(world, rank);
    }
    size_t index = 0;
    size_t ended = 0;
    int done = 1;
    std::array<size_t, kOperations> indices = {};
    me.StartReceives();
    brigade_operation** const all = me.operations.data();
    (void)me.Passes();
    EXPECT_EQ(brigade_test_some(all, kOperations, indices.data(), &ended), BRIGADE_OK);
    EXPECT_EQ(me.Passes(), 1);
    EXPECT_EQ(brigade_test_any(all, kOperations, &index, &done), BRIGADE_OK);
    EXPECT_EQ(me.Passes(), 1);
    EXPECT_EQ(brigade_test_all(all, kOperations, &done), BRIGADE_OK);
    EXPECT_EQ(me.Passes(), 1);
    me.Send(0, 1);
    (void)me.Passes();
    EXPECT_EQ(brigade_wait_any(all, kOperations, &index), BRIGADE_OK);
    EXPECT_EQ(me.Passes(), 1);
    EXPECT_EQ(index, kOperations - 1);
    me.Send(1, kOperations);
    (void)me.Passes();
    EXPECT_EQ(brigade_wait_some(all, kOperations, indices.data(), &ended), BRIGADE_OK);
    EXPECT_EQ(me.Passes(), 1);
    EXPECT_EQ(ended, kOperations - 1);
    for (size_t i = 0; i < ended; ++i) EXPECT_EQ(indices[i], i);
    for (size_t i = 0; i < kOperations; ++i) EXPECT_EQ(me.got[i], kSent[i]);
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
