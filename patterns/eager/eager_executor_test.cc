// Schedules made by hand on the eager executor, over either port. That it runs those of the
// catalogue is tested with all that do (test/patterns).

#include "patterns/eager/eager_executor.h"

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/rules.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/segment_plan.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/rules.h"

namespace brigade {
namespace {

// Sends less than the caller passes, and all by posts.
class TruncatingEndpoint : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  EdgeAccess* edges() override { return nullptr; }
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    return target()->PostSend(channel, peer, {segment.data, segment.bytes - sizeof(double)},
                              completion);
  }
};

// A rank whose messages are posted, or go over edges.
struct Member : GroupMember {
  Member(InprocWorld& world, int rank, bool edges, bool truncates = false,
         const EngineOptions& options = Small())
      : GroupMember(world, rank, EndpointFor(world, rank, edges, truncates), options) {}

  static std::unique_ptr<Endpoint> EndpointFor(InprocWorld& world, int rank, bool edges,
                                               bool truncates) {
    std::unique_ptr<Endpoint> endpoint = edges ? OverShm() : world.CreateEndpoint(rank);
    if (truncates) endpoint = std::make_unique<TruncatingEndpoint>(std::move(endpoint));
    return endpoint;
  }

  template <typename Path>
  Status Run(Pattern pattern, const Schedule& schedule, std::vector<double>* data,
             OperationStatistics* statistics = nullptr) {
    PatternCall call;
    call.pattern = pattern;
    call.scope = ChannelKind::kAll;
    call.matrix.data = reinterpret_cast<std::byte*>(data->data());
    const auto elems = static_cast<int64_t>(data->size());
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout));
    Path path(engine.get(), &state, EntryOf(pattern), call);
    EXPECT_TRUE(path.Fits(schedule));
    const Status status = path.Run(schedule, 0);
    if (statistics != nullptr) *statistics = path.statistics();
    return status;
  }
};

template <typename Path>
class EagerExecutors : public testing::Test {
 protected:
  static constexpr bool kEdges = std::is_base_of_v<EdgePort, Path>;
};

using Paths = testing::Types<EagerExecutor<PostPort>, EagerExecutor<EdgePort>>;
TYPED_TEST_SUITE(EagerExecutors, Paths);

TYPED_TEST(EagerExecutors, StepsWithALeadRunFirst) {
  for (const size_t elems : {1, 50}) {  // an inline message, a segment
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank, TestFixture::kEdges);
      std::vector<double> data(elems, rank == 0 ? 1 : 100);
      ScheduleBuilder b;
      if (rank == 0) {  // the matrix, and then its double
        const int out = b.AddStream("S", ChunkRole::kBufferedSend);
        b.Combine(Place::New(out), Place::Matrix(), Place::Matrix());
        b.Send(out, 1);
        b.Free(out);
        b.SetLead(1);
        b.Copy(Place::New(out), Place::Matrix());
        b.Send(out, 1);
        b.Free(out);
      } else {
        const int in = b.AddStream("R", ChunkRole::kReceive);
        b.ReceiveAndAwait(0, in);
        b.Combine(Place::Matrix(), Place::Matrix(), Place::Current(in));
        b.Free(in);
        b.SetLead(1);
        b.ReceiveAndAwait(0, in);
        b.Copy(Place::Matrix(), Place::Current(in));
        b.Free(in);
      }
      Require(me.Run<TypeParam>(Pattern::kAllReduce, b.Build(), &data));
      EXPECT_EQ(data, std::vector<double>(elems, rank == 0 ? 1 : 3));
    });
  }
}

TYPED_TEST(EagerExecutors, AMessageOfAnotherLengthThanItsHeaderSaysIsAnError) {
  for (const size_t elems : {2, 50}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank, TestFixture::kEdges, /*truncates=*/rank == 0);
      std::vector<double> data(elems);
      ScheduleParameters parameters;
      parameters.size = 2;
      parameters.rank = rank;
      parameters.topology = {Shape::kTree, 2};
      const Schedule schedule = EntryOf(Pattern::kBroadcast).compile(parameters);
      const Status status = me.Run<TypeParam>(Pattern::kBroadcast, schedule, &data);
      if (rank == 0) return Require(status);
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
      const std::string came = std::to_string(kHeaderBytes + (elems - 1) * sizeof(double));
      EXPECT_NE(status.message().find(came), std::string::npos) << status.message();
    });
  }
}

TYPED_TEST(EagerExecutors, AScheduleOfTheMostStreamsFits) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, TestFixture::kEdges);
    ScheduleBuilder b;
    for (size_t i = 0; i < TypeParam::kMostStreams; ++i) {
      b.AddStream("S", ChunkRole::kBufferedSend);
    }
    const Schedule most = b.Build();
    PatternCall call;
    call.scope = ChannelKind::kAll;
    TypeParam path(me.engine.get(), &me.state, EntryOf(Pattern::kBarrier), call);
    EXPECT_TRUE(path.Fits(most));
    Require(path.Run(most, 0));
  });
}

// Down a chain, longer and longer messages. Over edges the first sender needs no staging memory
// once its edge is wide, up to the longest inline message.
TYPED_TEST(EagerExecutors, LongLinesAreForwarded) {
  std::atomic<int> received{0};
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = size_t{8} << 10;
    options.staging_bytes = size_t{256} << 10;
    Member me(world, rank, TestFixture::kEdges, false, options);
    ScheduleParameters parameters;
    parameters.size = 3;
    parameters.rank = rank;
    parameters.topology = {Shape::kIncreasingRings, 1};
    const Schedule schedule = EntryOf(Pattern::kBroadcast).compile(parameters);
    int sent = 0;
    constexpr size_t kMostElems = rules::kMostInlineCollectiveBytes / sizeof(double);
    for (size_t elems = 1; elems < kMostElems + 20; elems += elems < kMostElems - 2 ? 7 : 1) {
      while (rank == 0 && received < sent) std::this_thread::yield();  // it does not run ahead
      sent += 2;
      Require(me.engine->Drain());  // all its staging memory is back
      std::vector<double> data(elems, rank == 0 ? static_cast<double>(elems) : 0);
      OperationStatistics statistics;
      Require(me.Run<TypeParam>(Pattern::kBroadcast, schedule, &data, &statistics));
      ASSERT_EQ(data, std::vector<double>(elems, static_cast<double>(elems)));
      if (rank > 0) ++received;
      ASSERT_EQ(statistics.messages_sent, rank < 2 ? 1u : 0u);
      ASSERT_EQ(statistics.bytes_sent, rank < 2 ? kHeaderBytes + elems * sizeof(double) : 0);
      if (TestFixture::kEdges && rank == 0 && elems > 50) {
        ASSERT_EQ(statistics.peak_staging_bytes == 0, elems <= kMostElems) << elems;
      }
    }
  });
}

// Where nobody forwards them, segments are inline messages, too.
TEST(EagerExecutorOverEdges, SegmentsForOneRankNeedNoStagingMemory) {
  std::atomic<int> received{0};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, /*edges=*/true);
    ScheduleParameters parameters;
    parameters.size = 2;
    parameters.rank = rank;
    parameters.topology = {Shape::kTree, 2};
    const Schedule schedule = EntryOf(Pattern::kBroadcast).compile(parameters);
    for (int call = 0; call < 3 * rules::kShmInlinesBeforeWide; ++call) {
      while (rank == 0 && received < call) std::this_thread::yield();  // it does not run ahead
      Require(me.engine->Drain());
      std::vector<double> data(400);
      if (rank == 0) std::iota(data.begin(), data.end(), call);
      OperationStatistics statistics;
      Require(me.Run<EagerExecutor<EdgePort>>(Pattern::kBroadcast, schedule, &data, &statistics));
      EXPECT_EQ(data.back(), call + 399);
      EXPECT_EQ(data.front(), call);
      EXPECT_GT(statistics.segments, 3u);
      if (rank == 1) ++received;
      if (rank == 0 && call > rules::kShmInlinesBeforeWide) {
        EXPECT_EQ(statistics.peak_staging_bytes, 0u) << call;
      }
    }
  });
}

// More than a ring holds, so that those which find no room are staged.
TEST(EagerExecutorOverEdges, ManySegmentsForOneRank) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, /*edges=*/true);
    ScheduleParameters parameters;
    parameters.size = 2;
    parameters.rank = rank;
    parameters.topology = {Shape::kTree, 2};
    const Schedule schedule = EntryOf(Pattern::kBroadcast).compile(parameters);
    for (int call = 0; call < 20; ++call) {
      Require(me.engine->Drain());  // all its staging memory is back
      std::vector<double> data(4000);
      if (rank == 0) std::iota(data.begin(), data.end(), call);
      OperationStatistics statistics;
      Require(me.Run<EagerExecutor<EdgePort>>(Pattern::kBroadcast, schedule, &data, &statistics));
      EXPECT_GT(statistics.segments, static_cast<uint64_t>(rules::kMostEagerSegments));
      for (size_t i = 0; i < data.size(); ++i) {
        ASSERT_EQ(data[i], static_cast<double>(call + static_cast<int>(i)));
      }
    }
  });
}

TEST(EagerExecutorOverEdges, SumsOfTwoRanksInSegments) {
  for (const auto& [pattern, shape] : {std::pair{Pattern::kAllReduce, Shape::kHypercube},
                                       std::pair{Pattern::kReduce, Shape::kTree}}) {
    RunRanks(2, InprocOptions(),
             [&, pattern = pattern, shape = shape](InprocWorld& world, int rank) {
               Member me(world, rank, /*edges=*/true);
               ScheduleParameters parameters;
               parameters.size = 2;
               parameters.rank = rank;
               parameters.topology = {shape, 2};
               const Schedule schedule = EntryOf(pattern).compile(parameters);
               for (int call = 0; call < 20; ++call) {
                 std::vector<double> data(4000);
                 std::iota(data.begin(), data.end(), call * (rank + 1));
                 OperationStatistics statistics;
                 Require(me.Run<EagerExecutor<EdgePort>>(pattern, schedule, &data, &statistics));
                 EXPECT_GT(statistics.segments, static_cast<uint64_t>(rules::kMostEagerSegments));
                 if (pattern == Pattern::kReduce && rank == 1) continue;
                 for (size_t i = 0; i < data.size(); ++i) {
                   ASSERT_EQ(data[i], 3.0 * call + 2.0 * static_cast<double>(i));
                 }
               }
             });
  }
}

// Over edges what nobody combines may take some segments, where one plan cuts all of it.
TEST(EagerExecutorOverEdges, BlocksOfSomeSegments) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, /*edges=*/true);
    const auto own = static_cast<size_t>(rank);
    for (const size_t shorter : {0, 1}) {
      std::vector<std::vector<double>> data(kRanks, std::vector<double>(400));
      data[1].resize(400 - shorter);
      data[own].assign(data[own].size(), rank + 1);
      std::vector<Matrix> blocks(kRanks);
      for (size_t q = 0; q < kRanks; ++q) {
        blocks[q].data = reinterpret_cast<std::byte*>(data[q].data());
        const auto elems = static_cast<int64_t>(data[q].size());
        Require(StridedLayout::General(elems, 1, elems, sizeof(double), &blocks[q].layout));
      }
      PatternCall call;
      call.pattern = Pattern::kMultiBroadcast;
      call.topology = {Shape::kIncreasingRings, 1};
      call.blocks = blocks.data();
      const CatalogueEntry& entry = EntryOf(call.pattern);
      ScheduleParameters parameters;
      parameters.size = kRanks;
      parameters.rank = rank;
      parameters.topology = call.topology;
      parameters.shares_memory = me.state.scope(call.scope).shares_memory();
      const Schedule schedule = entry.compile(parameters);
      EagerExecutor<EdgePort> path(me.engine.get(), &me.state, entry, call);
      ASSERT_EQ(path.Fits(schedule), shorter == 0);
      if (shorter != 0) continue;
      Require(path.Run(schedule, 0));
      EXPECT_GT(path.statistics().segments, 3u);
      for (size_t q = 0; q < kRanks; ++q) {
        EXPECT_EQ(data[q], std::vector<double>(400, static_cast<double>(q + 1)));
      }
    }
  });
}

TEST(EagerExecutorOverEdges, BlocksOfTwoRanksNeedNoStagingMemory) {
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank, /*edges=*/true);
      ScheduleParameters parameters;
      parameters.size = 2;
      parameters.rank = rank;
      parameters.topology = {Shape::kIncreasingRings, 1};
      parameters.shares_memory = true;
      const Schedule schedule = EntryOf(pattern).compile(parameters);
      std::vector<std::vector<double>> data(2, std::vector<double>(400, rank + 1));
      std::vector<double> sum(400);
      std::vector<Matrix> blocks(2);
      PatternCall call;
      call.pattern = pattern;
      call.blocks = blocks.data();
      const auto set = [](Matrix* matrix, std::vector<double>* values) {
        matrix->data = reinterpret_cast<std::byte*>(values->data());
        Require(StridedLayout::General(400, 1, 400, sizeof(double), &matrix->layout));
      };
      for (size_t q = 0; q < 2; ++q) set(&blocks[q], &data[q]);
      set(&call.matrix, &sum);
      for (uint64_t i = 0; i < 10; ++i) {
        EagerExecutor<EdgePort> path(me.engine.get(), &me.state, EntryOf(pattern), call);
        ASSERT_TRUE(path.Fits(schedule));
        Require(path.Run(schedule, i));
        EXPECT_GT(path.statistics().segments, 3u);
        if (i > rules::kShmInlinesBeforeWide) {
          EXPECT_EQ(path.statistics().peak_staging_bytes, 0u) << i;
        }
      }
      if (pattern == Pattern::kMultiReduce) {
        EXPECT_EQ(sum, std::vector<double>(400, 3));
      } else {
        for (size_t q = 0; q < 2; ++q) {
          EXPECT_EQ(data[q], std::vector<double>(400, static_cast<double>(q + 1)));
        }
      }
    });
  }
}

// Whatever memory comes back first is taken: of the surplus or of the core.
TYPED_TEST(EagerExecutors, MemoryOfTheSurplusThatComesBackIsTaken) {
  constexpr int kCore = 6;
  constexpr size_t kElems = 800;  // more than an inline message holds
  std::atomic<bool> waits{false};
  std::atomic<bool> got_both{false};
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = size_t{8} << 10;
    options.staging_bytes = (kCore + 1) * options.chunk_bytes;
    options.report_seconds = 0.02;
    options.report = [&](const std::string&) { waits = true; };
    Member me(world, rank, TestFixture::kEdges, false, options);
    std::vector<double> data(kElems, rank == 0 ? 7 : 0);
    ScheduleBuilder b;
    if (rank == 0) {
      const int out = b.AddStream("S", ChunkRole::kBufferedSend);
      for (int i = 0; i < kCore + 2; ++i) {
        b.Copy(Place::New(out), Place::Matrix());
        b.Send(out, i == 0 || i == kCore + 1 ? 1 : 2);
        b.Free(out);
      }
    } else {
      const int in = b.AddStream("R", ChunkRole::kReceive);
      for (int i = 0; i < (rank == 1 ? 2 : kCore); ++i) {
        b.ReceiveAndAwait(0, in);
        b.Copy(Place::Matrix(), Place::Current(in));
        b.Free(in);
      }
      while (!(rank == 1 ? waits : got_both)) std::this_thread::yield();
    }
    Require(me.Run<TypeParam>(Pattern::kAllReduce, b.Build(), &data));
    if (rank == 1) got_both = true;
    EXPECT_EQ(data, std::vector<double>(kElems, 7));
  });
}

}  // namespace
}  // namespace brigade
