// The completion of started calls by the C interface: what it ends, and how often it progresses.

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "brigade/calls.h"
#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
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

// A rank with its handles.
struct Member {
  Member(InprocWorld& of, int number, const EngineOptions& options = EngineOptions())
      : world(of), rank(number) {
    engine.endpoint = std::make_unique<CountingEndpoint>(world.CreateEndpoint(rank), &passes);
    Require(Engine::Create(engine.endpoint.get(), options, &engine.engine));
    group.engine = &engine;
    Require(Group::Create(engine.engine.get(), world.MakeBootstrap(rank).get(), 1, world.ranks(),
                          &group.group));
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

// Rank 0 waits for rank 1 or 2, and rank 1 waits for rank 0. Rank 2 ends it.
TEST(Completion, AWaitForAnyIsNoWaitForTheFirst) {
  RunRanks(3, {}, [](InprocWorld& world, int rank) {
    EngineOptions options;
    options.match_check_seconds = 0.01;
    Member me(world, rank, options);
    double value = rank;
    const brigade_matrix matrix = {&value, 1, 1, 0};
    const auto send = [&](int to) {
      EXPECT_EQ(brigade_send(&me.group, &matrix, BRIGADE_DOUBLE, to, nullptr), BRIGADE_OK)
          << brigade_error_text();
    };
    if (rank == 1) {
      EXPECT_EQ(brigade_recv(&me.group, &matrix, BRIGADE_DOUBLE, 0, nullptr), BRIGADE_OK)
          << brigade_error_text();
      send(0);
    } else if (rank == 2) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      send(0);
    } else {
      for (const int from : {1, 2}) {
        EXPECT_EQ(brigade_recv_start(&me.group, &matrix, BRIGADE_DOUBLE, from, nullptr,
                                     &me.operations[static_cast<size_t>(from) - 1]),
                  BRIGADE_OK);
      }
      size_t index = 0;
      EXPECT_EQ(brigade_wait_any(me.operations.data(), 2, &index), BRIGADE_OK)
          << brigade_error_text();
      EXPECT_EQ(index, 1u);
      send(1);
      EXPECT_EQ(brigade_wait_all(me.operations.data(), 2), BRIGADE_OK) << brigade_error_text();
    }
    Meet(world, rank);
  });
}

TEST(Completion, RanksThatWaitForEachOtherFail) {
  RunRanks(2, {}, [](InprocWorld& world, int rank) {
    EngineOptions options;
    options.match_check_seconds = 0.01;
    options.report = [](const std::string&) {};
    Member me(world, rank, options);
    double value = 0;
    const brigade_matrix matrix = {&value, 1, 1, 0};
    EXPECT_EQ(brigade_recv_start(&me.group, &matrix, BRIGADE_DOUBLE, 1 - rank, nullptr,
                                 me.operations.data()),
              BRIGADE_OK);
    size_t index = 0;
    EXPECT_EQ(brigade_wait_any(me.operations.data(), kOperations, &index), BRIGADE_MISMATCH);
    Meet(world, rank);
  });
}

// Rank 1 takes rank 2 for the root, and rank 0 sends.
TEST(Completion, AWaitForAnyFindsAMessageOfACallThatDiffers) {
  RunRanks(3, {}, [](InprocWorld& world, int rank) {
    EngineOptions options;
    options.match_check_seconds = 0.01;
    Member me(world, rank, options);
    double value = 0;
    const brigade_matrix matrix = {&value, 1, 1, 0};
    brigade_call_options flat = brigade_call_options_init();
    flat.topology = BRIGADE_TREE;
    flat.parameter = 4;
    if (rank != 1) {
      (void)brigade_bcast(&me.group, &matrix, BRIGADE_DOUBLE, 0, &flat);
    } else {
      double other_value = 0;
      const brigade_matrix other = {&other_value, 1, 1, 0};
      brigade_call_options limited = brigade_call_options_init();
      limited.timeout_seconds = 60;
      EXPECT_EQ(
          brigade_recv_start(&me.group, &other, BRIGADE_DOUBLE, 2, &limited, me.operations.data()),
          BRIGADE_OK);
      EXPECT_EQ(
          brigade_bcast_start(&me.group, &matrix, BRIGADE_DOUBLE, 2, &flat, &me.operations[1]),
          BRIGADE_OK);
      size_t index = 0;
      EXPECT_EQ(brigade_wait_any(me.operations.data(), 2, &index), BRIGADE_MISMATCH)
          << brigade_error_text();
      (void)brigade_wait_all(me.operations.data(), 2);  // frees what has failed, too
    }
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
