// Guarantees of the patterns beyond right data, over any transport whose ranks can be threads:
// which ranks wait for which, errors of wrong calls, equal bits at any timing.

#include <malloc.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/rules.h"
#include "patterns/schedule/segment_plan.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

struct Transport {
  const char* name;
  bool shm;              // instead of inproc
  InprocOptions inproc;  // with shm only the bootstraps of its world are used
  int hosts = 1;         // over which the ranks are distributed, with shm within and inproc between
};

std::vector<Transport> Transports() {
  InprocOptions peer;
  peer.lands_in_peer_memory = true;
  InprocOptions in_place;
  in_place.sends_in_place = true;
  return {{"inproc", false, InprocOptions()},
          {"inproc_peer", false, peer},
          {"inproc_in_place", false, in_place},
          {"shm", true, {}},
          {"two_hosts", true, {}, 2}};
}

class Semantics : public testing::TestWithParam<Transport> {};
class Mismatch : public Semantics {};

void OnRanks(int ranks, const std::function<void(InprocWorld& world, int rank)>& body) {
  RunRanks(ranks, Semantics::GetParam().inproc, body);
}

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<Endpoint> NewEndpoint(InprocWorld* world, int rank) {
  const Transport& transport = Semantics::GetParam();
  if (!transport.shm) return world->CreateEndpoint(rank);
  if (transport.hosts > 1) return AutoEndpointOn(rank % transport.hosts, world, rank);
  std::unique_ptr<Endpoint> endpoint;
  Require(CreateShmEndpoint(&endpoint));
  return endpoint;
}

// Waits as where many ranks share a processor: each pause is long, and a rank soon sleeps.
class LongPauses : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  void Pause(uint64_t polls) override {
    idle_polls = polls;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  uint64_t PollsAwake() const override { return 1; }
  uint64_t PollsBeforeSleep() const override { return 1; }
  uint64_t idle_polls = 0;  // in a row before the last pause
};

// One rank's endpoint, engine and group of all ranks.
struct Rank {
  Rank(InprocWorld& world, int r, const EngineOptions& options = Small(),
       const FaultOptions* faults = nullptr, bool long_pauses = false)
      : rank(r) {
    endpoint = NewEndpoint(&world, rank);
    if (long_pauses) endpoint = std::make_unique<LongPauses>(std::move(endpoint));
    if (faults != nullptr) endpoint = MakeFaultEndpoint(std::move(endpoint), *faults);
    Require(Engine::Create(endpoint.get(), options, &engine));
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
    created = Group::Create(engine.get(), bootstrap.get(), 1, bootstrap->size(), &group);
  }

  static EngineOptions Small() {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 64 * 1024;
    return options;
  }

  Status Run(const PatternCall& call, std::vector<double>* data,
             OperationStatistics* statistics = nullptr) {
    return group->Run(With(data, call), statistics);
  }
  Status Start(const PatternCall& call, std::vector<double>* data,
               std::unique_ptr<Operation>* operation) {
    return group->Start(With(data, call), operation);
  }

  static PatternCall With(std::vector<double>* data, PatternCall call) {
    call.matrix.data = reinterpret_cast<std::byte*>(data->data());
    const auto elems = static_cast<int64_t>(data->size());
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout));
    return call;
  }

  int rank;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
  Status created;
};

PatternCall Call(Pattern pattern, int root = 0, Topology topology = Topology()) {
  PatternCall call;
  call.pattern = pattern;
  call.root = root;
  call.topology = topology;
  return call;
}

void AwaitCount(const std::atomic<int>& count, int value) {
  while (count < value) std::this_thread::yield();
}

TEST_P(Semantics, SumsHaveTheSameBitsAtAnyTimingAndWithAnyChunks) {
  const std::vector<PatternCall> calls = {
      Call(Pattern::kAllReduce, 0, {Shape::kTree, 2}),
      Call(Pattern::kAllReduce, 0, {Shape::kTree, 4}),
      Call(Pattern::kAllReduce, 0, {Shape::kDecreasingRings, 1}),
      Call(Pattern::kAllReduce, 0, {Shape::kSplitRing, 0}),
      Call(Pattern::kAllReduce, 0, {Shape::kHypercube, 0}),
      Call(Pattern::kAllReduce, 0, {Shape::kReduceScatterAllgather, 0}),
      Call(Pattern::kReduce, 2, {Shape::kTwoTree, 0}),
      Call(Pattern::kReduce, 2, {Shape::kCirculant, 0}),
      Call(Pattern::kScan, 0, {Shape::kIncreasingRings, 1}),
      Call(Pattern::kScan, 0, {Shape::kHypercube, 0}),
      Call(Pattern::kExscan, 0, {Shape::kIncreasingRings, 1}),
      Call(Pattern::kExscan, 0, {Shape::kHypercube, 0})};
  for (const PatternCall& call : calls) {
    const bool is_scan = IsScan(call.pattern);
    std::vector<std::vector<double>> first(7);  // by rank; of other sums than scans only one
    std::mutex mutex;
    for (int repeat = 0; repeat < 6; ++repeat) {
      OnRanks(7, [&](InprocWorld& world, int rank) {
        EngineOptions options;
        options.chunk_bytes = repeat % 2 == 0 ? kLeastChunkBytes : 4096;
        options.staging_bytes = (repeat % 3 + 1) * 16 * options.chunk_bytes;
        FaultOptions faults;
        faults.seed = static_cast<uint64_t>(repeat * 100 + rank);
        faults.max_delay = repeat * 2;
        faults.no_resource = 0.05 * repeat;
        Rank me(world, rank, options, &faults);
        const bool to_all = call.pattern == Pattern::kAllReduce;
        std::vector<double> data(to_all ? 900 : 3000);
        for (size_t i = 0; i < data.size(); ++i) {
          data[i] = std::sin(static_cast<double>(i * 7 + rank)) * std::pow(10.0, rank * 3);
        }
        data[5] = rank == 3 ? std::nan("7") : data[5];
        Require(me.Run(call, &data));
        if (call.pattern == Pattern::kReduce && rank != call.root) return;
        const std::lock_guard<std::mutex> lock(mutex);
        std::vector<double>& expected = first[is_scan ? static_cast<size_t>(rank) : 0];
        if (expected.empty()) expected = data;
        EXPECT_EQ(std::memcmp(expected.data(), data.data(), data.size() * sizeof(double)), 0)
            << "rank " << rank << ", repeat " << repeat;
      });
    }
  }
}

// Share q of the matrix is combined from the rank after q on, around to q, wherever segments and
// hosts begin.
TEST_P(Semantics, ReduceScatteredSumsAreChainsFromTheRankAfterTheOwner) {
  constexpr int kRanks = 5;
  const auto datum = [](int rank, size_t k) {
    return std::sin(static_cast<double>(k * 7) + rank) * std::pow(10.0, rank % 3);
  };
  for (const size_t elems : {size_t{0}, size_t{3}, size_t{11}, size_t{4001}}) {
    std::vector<double> expected;
    for (size_t q = 0; q < kRanks; ++q) {
      for (size_t k = q * elems / kRanks; k < (q + 1) * elems / kRanks; ++k) {
        expected.push_back(0);
        for (size_t i = 1; i <= kRanks; ++i) {
          expected[k] += datum(static_cast<int>((q + i) % kRanks), k);
        }
      }
    }
    for (const size_t chunk_bytes : {kLeastChunkBytes, size_t{4096}}) {
      OnRanks(kRanks, [&](InprocWorld& world, int rank) {
        EngineOptions options = Rank::Small();
        options.chunk_bytes = chunk_bytes;
        Rank me(world, rank, options);
        std::vector<double> data(elems);
        for (size_t k = 0; k < elems; ++k) data[k] = datum(rank, k);
        // A parameter that means nothing makes no difference.
        Require(
            me.Run(Call(Pattern::kAllReduce, 0, {Shape::kReduceScatterAllgather, rank}), &data));
        EXPECT_EQ(data, expected) << elems << " elements, rank " << rank;
      });
    }
  }
}

// Along a circulant graph a block's contributions are added by their distance from its rank,
// wherever segments begin; so they are where a short call leaves the choice to the library.
TEST_P(Semantics, CirculantSumsOfBlocksGoByDistance) {
  constexpr int kRanks = 7;
  const auto datum = [](int rank, int block, size_t k) {
    return std::sin(static_cast<double>(k * 7) + rank + 3 * block) * std::pow(10.0, rank % 4);
  };
  for (const size_t length : {size_t{40}, size_t{700}}) {
    const auto elems = [&](int block) { return block % 3 == 1 ? 0 : length + 5 * block; };
    for (const Shape shape : {Shape::kCirculant, Shape::kFree}) {
      if (shape == Shape::kFree && length > 40) continue;  // it takes the ring
      for (const size_t chunk_bytes : {kLeastChunkBytes, size_t{4096}}) {
        OnRanks(kRanks, [&](InprocWorld& world, int rank) {
          EngineOptions options = Rank::Small();
          options.chunk_bytes = chunk_bytes;
          Rank me(world, rank, options);
          std::vector<std::vector<double>> data(kRanks);
          std::vector<Matrix> blocks(kRanks);
          for (int q = 0; q < kRanks; ++q) {
            for (size_t k = 0; k < elems(q); ++k) data[q].push_back(datum(rank, q, k));
            const auto rows = static_cast<int64_t>(elems(q));
            blocks[q].data = reinterpret_cast<std::byte*>(data[q].data());
            Require(StridedLayout::General(rows, 1, rows, sizeof(double), &blocks[q].layout));
          }
          PatternCall call = Call(Pattern::kMultiReduce, 0, {shape, 0});
          call.blocks = blocks.data();
          std::vector<double> result(elems(rank));
          Require(me.Run(call, &result));
          for (size_t k = 0; k < result.size(); ++k) {
            // By distance: 0..6, then 4 and more to those nearer by 4, then 2 and more, then 1.
            double d[kRanks];
            for (int i = 0; i < kRanks; ++i) d[i] = datum((rank + kRanks - i) % kRanks, rank, k);
            const double expected = ((d[0] + d[4]) + (d[2] + d[6])) + ((d[1] + d[5]) + d[3]);
            ASSERT_EQ(result[k], expected) << "rank " << rank << ", element " << k;
          }
        });
      }
    }
  }
}

TEST_P(Semantics, ReduceScatteredMaximaKnowWhereTheyWere) {
  constexpr int kRanks = 5;
  for (const int elems : {2, 1000}) {
    OnRanks(kRanks, [&](InprocWorld& world, int rank) {
      Rank me(world, rank);
      // The winner is rank k % 5, but of each seventh element all are equal.
      std::vector<double> data;
      std::vector<int32_t> locations;
      for (int k = 0; k < elems; ++k) {
        data.push_back(k % kRanks == rank ? -9 - k : k % 7 == 0 ? -9 - k : rank);
        locations.push_back(rank + 10 * k);
      }
      PatternCall call = Call(Pattern::kAllReduce, 0, {Shape::kReduceScatterAllgather, 0});
      call.op = CombineOp::kAbsMax;
      call.locations = locations.data();
      Require(me.Run(call, &data));
      for (int k = 0; k < elems; ++k) {
        EXPECT_EQ(data[static_cast<size_t>(k)], -9 - k);
        EXPECT_EQ(locations[static_cast<size_t>(k)], (k % 7 == 0 ? 0 : k % kRanks) + 10 * k);
      }
    });
  }
}

// A segment that it keeps is copied as one that goes through staging memory is.
TEST_P(Semantics, SegmentsKeptByTheTransportCountAsOverflow) {
  if (!GetParam().inproc.sends_in_place) GTEST_SKIP() << "it takes nothing from user memory";
  for (const size_t elems : {size_t{10}, size_t{10000}}) {
    OnRanks(2, [&](InprocWorld& world, int rank) {
      Rank me(world, rank);
      std::vector<double> data(elems, rank == 0 ? 3.5 : 0);
      OperationStatistics did;
      Require(me.Run(Call(Pattern::kBroadcast), &data, &did));
      EXPECT_EQ(data, std::vector<double>(elems, 3.5));
      if (rank != 0) return;
      EXPECT_GT(did.overflow_segments, 0u);
      EXPECT_EQ(did.copies, did.segments);
      EXPECT_EQ(did.messages_sent, did.segments);
    });
  }
}

// Neither source nor relays wait for later ranks, for any message and any pool.
TEST_P(Semantics, NoRankOfARingWaitsForOneDownstream) {
  std::atomic<int> returned{0};
  OnRanks(4, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(100000, rank == 0 ? 3.5 : 0);
    if (rank == 3) AwaitCount(returned, 3);
    OperationStatistics statistics;
    Require(me.Run(Call(Pattern::kBroadcast, 0, {Shape::kIncreasingRings, 1}), &data, &statistics));
    ++returned;
    EXPECT_EQ(data.back(), 3.5);
    // Where the message waits for rank 3: where it is read from.
    if (rank == (me.endpoint->capabilities().lands_in_peer_memory ? 0 : 2)) {
      EXPECT_GT(statistics.overflow_segments, 0u);
    }
    EXPECT_LE(statistics.peak_staging_bytes, me.engine->staging().budget_bytes);
    AwaitCount(returned, 4);
  });
}

TEST_P(Semantics, ASendReturnsWithoutItsReceiverAndArrivesWithoutItsSender) {
  std::atomic<int> sent{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(rank == 0 ? 500000 : 600000, rank == 0 ? 1.25 : 0);
    if (rank == 0) {
      Require(me.Run(Call(Pattern::kSend, 1), &data));
      data.assign(data.size(), -1);  // the sender's memory is its own again
      ++sent;
      AwaitCount(sent, 2);  // no call of ours while the message is received
    } else {
      AwaitCount(sent, 1);
      // Posted sends move without the sender; the last of them may wait for its chunk.
      Require(me.Run(Call(Pattern::kReceive, 0), &data));
      EXPECT_EQ(data[0], 1.25);
      EXPECT_EQ(data[499999], 1.25);
      EXPECT_EQ(data[500000], 0);  // a shorter message leaves the rest alone
      ++sent;
    }
  });
}

// A relay that has returned may never call again. If it had forwarded the root's memory, the root
// must not wait for its release.
TEST_P(Semantics, ACombineReturnsThoughItsRelaysNeverCallAgain) {
  for (const Topology& topology :
       {Topology{Shape::kIncreasingRings, 1}, {Shape::kReduceScatterAllgather, 0}}) {
    for (const size_t elems : {size_t{40}, size_t{2000}}) {
      std::atomic<int> returned{0};
      OnRanks(4, [&](InprocWorld& world, int rank) {
        EngineOptions options = Rank::Small();
        options.staging_bytes = 6 * 1024;  // all of it is the core
        Rank me(world, rank, options);
        std::vector<double> data(elems, rank);
        Require(me.Run(Call(Pattern::kAllReduce, 0, topology), &data));
        EXPECT_EQ(data.back(), 6);
        ++returned;
        AwaitCount(returned, 4);  // without a call
      });
    }
  }
}

// With relays that make no further call.
TEST_P(Semantics, AWaitForACombineReleasesItsChunks) {
  std::atomic<int> returned{0};
  OnRanks(3, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(2000, rank);
    PatternCall call = Call(Pattern::kAllReduce, 0, {Shape::kIncreasingRings, 1});
    call.matrix.data = reinterpret_cast<std::byte*>(data.data());
    Require(StridedLayout::General(2000, 1, 2000, sizeof(double), &call.matrix.layout));
    std::unique_ptr<Operation> operation;
    Require(me.group->Start(call, &operation));
    Require(operation->Wait());
    EXPECT_EQ(data.back(), 3);
    if (rank == 0) Require(me.engine->Drain());
    ++returned;
    AwaitCount(returned, 3);  // without a call
  });
}

TEST_P(Semantics, AChannelDoesNotWaitForAnother) {
  OnRanks(2, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> large(300000, rank == 0 ? 2 : 0), small(10, rank == 0 ? 4 : 0);
    if (rank == 0) Require(me.Run(Call(Pattern::kSend, 1), &large));
    Require(me.Run(Call(Pattern::kBroadcast, 0), &small));
    EXPECT_EQ(small[9], 4);
    if (rank == 1) Require(me.Run(Call(Pattern::kReceive, 0), &large));
    EXPECT_EQ(large[299999], 2);
    Require(me.Run(Call(Pattern::kBarrier), &small));
  });
}

// A sender that never has to wait looks all the same whether its receivers have caught up.
TEST_P(Semantics, OnceReceiversHaveCaughtUpSendsTakeStagingMemoryAgain) {
  constexpr int kAhead = 300;
  constexpr int kInTurn = 20;
  std::atomic<int> sent{0};
  std::atomic<int> received{0};
  OnRanks(2, [&](InprocWorld& world, int r) {
    Rank me(world, r);
    ASSERT_TRUE(me.created.ok());
    std::vector<double> data(100, r);
    const auto broadcast = [&] {
      Require(me.Run(Call(Pattern::kBroadcast, 0, {Shape::kTree, 2}), &data));
    };
    const auto send = [&] {
      broadcast();
      ++sent;
    };
    if (r == 0) {
      for (int i = 0; i < kAhead; ++i) send();
      EXPECT_GT(me.engine->overflow().blocks, 0u);
      AwaitCount(received, kAhead);
      send();
      const uint64_t blocks = me.engine->overflow().blocks;
      for (int i = 1; i < kInTurn; ++i) {
        AwaitCount(received, kAhead + i);
        send();
      }
      EXPECT_EQ(me.engine->overflow().blocks, blocks);
    } else {
      for (int i = 0; i < kAhead + kInTurn; ++i) {
        AwaitCount(sent, i < kAhead ? kAhead : i + 1);
        broadcast();
        ++received;
      }
    }
  });
}

TEST_P(Semantics, AtTheOverflowLimitASendFailsAfterItsWait) {
  std::atomic<int> over{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.overflow_bytes = 8192;
    options.overflow_wait_seconds = 0.05;
    Rank me(world, rank, options);
    std::vector<double> data(100000);
    if (rank == 0) {
      const Status status = me.Run(Call(Pattern::kSend, 1), &data);
      EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
      EXPECT_NE(status.message().find("8192"), std::string::npos) << status.message();
      // The group is broken, and its calls fail.
      EXPECT_EQ(me.Run(Call(Pattern::kBarrier), &data).code(), StatusCode::kTimedOut);
    } else {
      AwaitCount(over, 1);
    }
    ++over;
  });
}

// A send does not wait for a transport that accepts nothing at present, and keeps its message until
// its memory is used up.
TEST_P(Semantics, ShortSendsReturnWhileThereIsMemoryThoughTheTransportTakesNone) {
  std::atomic<int> over{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.overflow_bytes = 8192;
    options.overflow_wait_seconds = 0.05;
    FaultOptions faults;
    faults.no_resource = 1;
    Rank me(world, rank, options, &faults);
    std::vector<double> data(1);
    if (rank == 0) {
      int returned = 0;
      Status status;
      while (status.ok()) {
        status = me.Run(Call(Pattern::kSend, 1), &data);
        if (status.ok()) ++returned;
      }
      EXPECT_GT(returned, 20);  // of the 64 chunks, those that are not the core's
      EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
      EXPECT_NE(status.message().find("8192"), std::string::npos) << status.message();
    } else {
      AwaitCount(over, 1);
    }
    ++over;
  });
}

// However a rank runs its part of an operation, it cuts the message into the same segments.
TEST_P(Semantics, ARankWithMoreUnderWayCutsShortMessagesAsOthersDo) {
  OnRanks(2, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> late(1, rank), data(3, rank == 0 ? 5 : 0);
    std::unique_ptr<Operation> operation;
    PatternCall receive = Call(Pattern::kReceive, 1);
    receive.matrix.data = reinterpret_cast<std::byte*>(late.data());
    Require(StridedLayout::General(1, 1, 1, sizeof(double), &receive.matrix.layout));
    if (rank == 0) Require(me.group->Start(receive, &operation));
    PatternCall call = Call(Pattern::kBroadcast);
    call.segment_bytes = sizeof(double);
    Require(me.Run(call, &data));
    EXPECT_EQ(data, std::vector<double>(3, 5));
    if (rank == 1) Require(me.Run(Call(Pattern::kSend, 0), &late));
    if (rank == 0) Require(operation->Wait());
    EXPECT_EQ(late[0], 1);
  });
}

TEST_P(Semantics, ShortSendsTakeLittleMoreThanTheirBytesOfOverflow) {
  std::atomic<int> sent{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    constexpr int kSends = 2000;  // at a chunk each they would take 64 MB
    EngineOptions options;
    options.overflow_bytes = kSends * 1280;
    options.overflow_wait_seconds = 0.05;
    Rank me(world, rank, options);
    std::vector<double> data(128);
    if (rank == 0) {
      for (int i = 0; i < kSends; ++i) {
        data.assign(data.size(), i);
        Require(me.Run(Call(Pattern::kSend, 1), &data));
      }
      EXPECT_GT(me.engine->overflow().high_water_bytes, 1000u * 1024);
      ++sent;
    } else {
      AwaitCount(sent, 1);
      for (int i = 0; i < kSends; ++i) {
        Require(me.Run(Call(Pattern::kReceive, 0), &data));
        EXPECT_EQ(data, std::vector<double>(data.size(), i));
      }
    }
  });
}

TEST_P(Semantics, AFloodOfSendsLeavesNoMemoryInUse) {
  // With a sanitizer this call is the first to glibc's own allocator. Two threads must not make it.
  (void)mallinfo2();
  std::atomic<int> there{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    int meetings = 0;
    const auto meet = [&] {
      ++there;
      AwaitCount(there, 2 * ++meetings);
    };
    const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    Rank me(world, rank);
    std::vector<double> data(40);
    const auto all = [&](Pattern pattern) {
      for (int i = 0; i < 20000; ++i) Require(me.Run(Call(pattern, 1 - rank), &data));
    };
    meet();
    const size_t before = in_use();
    meet();
    if (rank == 0) all(Pattern::kSend);
    meet();
    if (rank == 1) all(Pattern::kReceive);
    Require(me.engine->Drain());
    me.engine->Trim();
    meet();
    EXPECT_LT(in_use(), before + (size_t{2} << 20));
    meet();
  });
}

TEST_P(Semantics, RanksLeaveThoughTheirMessagesAreNotReceived) {
  OnRanks(2, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(100000);
    Require(me.Run(Call(Pattern::kSend, 1 - rank), &data));
    me.group.reset();
    Require(me.engine->Drain());
  });
}

// Two ranks make different calls; at least one of them fails, and the other does not hang although
// the first stays. Messages show the difference; an enquiry would need the late rank.
void ExpectMismatch(const std::function<Status(Rank&)>& call, const std::string& text) {
  std::mutex mutex;
  std::string told;
  std::atomic<int> over{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.match_check_seconds = 0;
    Rank me(world, rank, options);
    const Status status = call(me);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (status.code() == StatusCode::kMismatch) told += status.message();
    }
    ++over;
    AwaitCount(over, 2);
  });
  EXPECT_NE(told.find(text), std::string::npos) << told;
}

TEST_P(Mismatch, Sizes) {
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(me.rank == 0 ? 100 : 50);
        return me.Run(Call(Pattern::kBroadcast), &data);
      },
      "bytes: 400 here, 800 there");
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(me.rank == 0 ? 5000 : 9000);
        return me.Run(Call(Pattern::kAllReduce), &data);
      },
      "72000 there");
  // The first shares are equally long. Either rank may be the first that fails.
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(me.rank == 0 ? 100 : 101);
        return me.Run(Call(Pattern::kAllReduce, 0, {Shape::kReduceScatterAllgather, 0}), &data);
      },
      "bytes: 80");  // 800 or 808
}

// A mismatch of lengths: either of two blocks in one message is the longer one.
TEST_P(Mismatch, LengthsOfBlocks) {
  std::atomic<int> told{0};
  std::atomic<int> over{0};
  OnRanks(4, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(19);
    std::vector<Matrix> blocks(4);
    size_t first = 0;
    for (int q = 0; q < 4; ++q) {
      const int64_t count = q == (rank == 0 ? 2 : 3) ? 4 : 5;
      blocks[q].data = reinterpret_cast<std::byte*>(data.data() + first);
      Require(StridedLayout::General(count, 1, count, sizeof(double), &blocks[q].layout));
      first += static_cast<size_t>(count);
    }
    PatternCall call = Call(Pattern::kMultiBroadcast, 0, {Shape::kCirculant, 0});
    call.blocks = blocks.data();
    const Status status = me.Run(call, &data);
    told += status.code() == StatusCode::kMismatch ? 1 : 0;
    ++over;
    AwaitCount(over, 4);
  });
  EXPECT_GT(told, 0);
}

TEST_P(Mismatch, AMessageLongerThanItsReceive) {
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(me.rank == 0 ? 51 : 50);
        return me.Run(Call(me.rank == 0 ? Pattern::kSend : Pattern::kReceive, 1 - me.rank), &data);
      },
      "a message of 408 bytes meets a receive of 400 bytes");
}

TEST_P(Mismatch, Patterns) {
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(10);
        return me.Run(Call(me.rank == 0 ? Pattern::kBroadcast : Pattern::kAllReduce), &data);
      },
      "pattern");
}

TEST_P(Mismatch, TopologiesAndOperations) {
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(10);
        return me.Run(Call(Pattern::kBroadcast, 0, {Shape::kIncreasingRings, 1 + me.rank}), &data);
      },
      "topology");
  ExpectMismatch(
      [](Rank& me) {
        std::vector<double> data(10);
        PatternCall call = Call(Pattern::kReduce);
        call.op = me.rank == 0 ? CombineOp::kSum : CombineOp::kAbsMax;
        return me.Run(call, &data);
      },
      "arithmetic");
}

// Messages that had come from other ranks are released.
TEST_P(Mismatch, LeavesNoSenderWaiting) {
  std::atomic<int> sent{0};
  std::atomic<int> over{0};
  OnRanks(3, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(10);
    PatternCall call = Call(Pattern::kReduce, 0, {Shape::kTree, 4});
    if (rank == 1) call.op = CombineOp::kAbsMax;
    if (rank == 0) AwaitCount(sent, 2);
    const Status status = me.Run(call, &data);
    ++sent;
    EXPECT_EQ(status.code(), rank == 0 ? StatusCode::kMismatch : StatusCode::kOk);
    Require(me.engine->Drain());
    ++over;
    AwaitCount(over, 3);  // without a call
  });
}

TEST_P(Mismatch, SettingsAreComparedWhenAGroupIsMade) {
  OnRanks(3, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    if (rank == 2) options.chunk_bytes = 2048;
    Rank me(world, rank, options);
    EXPECT_EQ(me.created.code(), StatusCode::kMismatch);
    EXPECT_NE(me.created.message().find("rank 2 has 2048"), std::string::npos)
        << me.created.message();
  });
}

TEST_P(Semantics, ALostPeerIsNamed) {
  std::atomic<int> returned{0};
  OnRanks(3, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(20000);
    Require(me.Run(Call(Pattern::kBarrier), &data));
    ++returned;
    AwaitCount(returned, 3);
    if (rank == 1) return;  // gone: RunRanks reports it to the world
    const Status status = me.Run(Call(Pattern::kAllReduce), &data);
    EXPECT_EQ(status.code(), StatusCode::kPeerLost) << status.ToString();
    EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("all_reduce"), std::string::npos) << status.message();
  });
}

// Memory that a lost peer may still read is never reused; other groups keep their memory, for any
// number of lost peers.
TEST_P(Semantics, ALostPeerTakesNoMemoryFromOtherGroups) {
  std::atomic<int> turn{1};
  OnRanks(6, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.staging_bytes = 6 * 1024;  // all of it is the core
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint(&world, rank);
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), options, &engine));
    const auto group_of = [&](const std::vector<int>& members) {
      std::unique_ptr<Group> group;
      const int mine = rank == members[0] ? 0 : 1;
      Require(Group::Create(engine.get(), world.MakeBootstrap(members, mine).get(), 1, 2, &group));
      return group;
    };
    std::vector<std::unique_ptr<Group>> with_lost(6);
    for (int lost = 2; lost < 6; ++lost) {
      if (rank == 0 || rank == lost) with_lost[static_cast<size_t>(lost)] = group_of({0, lost});
    }
    // Each is gone once rank 0 has sent to it, and waits for it.
    if (rank > 1) {
      AwaitCount(turn, rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return;
    }
    const std::unique_ptr<Group> without = group_of({0, 1});
    std::vector<double> data(20000);
    const PatternCall sum =
        Rank::With(&data, Call(Pattern::kAllReduce, 0, {Shape::kReduceScatterAllgather, 0}));
    for (size_t lost = 2; lost < 6; ++lost) {
      if (rank == 0) {
        ++turn;
        EXPECT_EQ(with_lost[lost]->Run(sum).code(), StatusCode::kPeerLost);
      }
      std::fill(data.begin(), data.end(), 1);
      Require(without->Run(sum));
      EXPECT_EQ(data, std::vector<double>(data.size(), 2));
    }
  });
}

TEST_P(Semantics, ASilentPeerIsReported) {
  std::atomic<int> reports{0};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.report_seconds = 0.01;
    options.report = [&](const std::string& line) {
      EXPECT_NE(line.find("waiting for rank 1"), std::string::npos) << line;
      ++reports;
    };
    Rank me(world, rank, options);
    std::vector<double> data(10);
    if (rank == 1) AwaitCount(reports, 2);
    Require(me.Run(Call(Pattern::kReduce), &data));  // it comes after all
  });
  EXPECT_GE(reports, 2);
}

// Not at 0, and at no interval that is longer than a clock can count.
TEST_P(Semantics, ASilentPeerIsNotReportedBeforeItsTime) {
  for (const double seconds : {0.0, 1e10}) {
    OnRanks(2, [&](InprocWorld& world, int rank) {
      EngineOptions options = Rank::Small();
      options.report_seconds = seconds;
      options.report = [&](const std::string& line) { ADD_FAILURE() << line; };
      Rank me(world, rank, options);
      std::vector<double> data(10);
      if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      Require(me.Run(Call(Pattern::kReduce), &data));
    });
  }
}

// Of short and long calls, and in few pauses as well as in many.
TEST_P(Semantics, TheTimeThatACallWaitsIsCounted) {
  for (const bool long_pauses : {false, true}) {
    for (const size_t elems : {size_t{1}, size_t{20000}}) {
      for (const bool blocking : {true, false}) {
        std::atomic<bool> waits{false};  // and has for some time
        OnRanks(2, [&](InprocWorld& world, int rank) {
          EngineOptions options = Rank::Small();
          options.report_seconds = 0.01;
          options.report = [&](const std::string&) { waits = rank == 0 || waits; };
          Rank me(world, rank, options, nullptr, long_pauses);
          std::vector<double> data(elems);
          while (rank == 1 && !waits) std::this_thread::yield();
          if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(25));
          const auto begin = std::chrono::steady_clock::now();
          OperationStatistics did;
          if (blocking) {
            Require(me.Run(Call(Pattern::kReduce), &data, &did));
          } else {
            std::unique_ptr<Operation> operation;
            Require(me.Start(Call(Pattern::kReduce), &data, &operation));
            Require(operation->Wait(&did));
          }
          const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
          EXPECT_LE(did.wait_ns, static_cast<uint64_t>(took.count()));
          if (rank == 1) return;
          EXPECT_GE(did.wait_ns, 25000000u);
        });
      }
    }
  }
}

// Its report, and its check whether calls match, would otherwise be many pauses late.
TEST_P(Semantics, ARankThatSleepsBetweenPollsLooksAtTheClockAtEach) {
  std::atomic<bool> has_reported{false};
  OnRanks(2, [&](InprocWorld& world, int rank) {
    const LongPauses* pauses = nullptr;
    EngineOptions options = Rank::Small();
    options.report_seconds = 1e-9;
    options.report = [&](const std::string&) {
      if (rank == 1 || pauses == nullptr || has_reported) return;
      EXPECT_LT(pauses->idle_polls, rules::kPollsPerClock - 1);
      has_reported = true;
    };
    Rank me(world, rank, options, nullptr, /*long_pauses=*/true);
    pauses = static_cast<const LongPauses*>(me.endpoint.get());
    std::vector<double> data(1);
    while (rank == 1 && !has_reported) std::this_thread::yield();
    Require(me.Run(Call(Pattern::kAllReduce), &data));
  });
}

TEST_P(Semantics, ABudgetTooSmallIsRefusedWithTheMinimum) {
  InprocWorld world(1);
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint(&world, 0);
  EngineOptions options;
  options.chunk_bytes = 1024;
  options.staging_bytes = 5 * 1024;
  std::unique_ptr<Engine> engine;
  const Status status = Engine::Create(endpoint.get(), options, &engine);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("6144"), std::string::npos) << status.message();
  options.staging_bytes = 6 * 1024;
  EXPECT_TRUE(Engine::Create(endpoint.get(), options, &engine).ok());
}

TEST_P(Semantics, AStartThatDoesNotFitHasNoEffect) {
  OnRanks(2, [&](InprocWorld& world, int rank) {
    EngineOptions options = Rank::Small();
    options.staging_bytes = 16 * 1024;
    Rank me(world, rank, options);
    std::vector<std::vector<double>> data(20, std::vector<double>(500, rank + 1.0));
    std::vector<std::unique_ptr<Operation>> operations;
    const auto meet = [&] {
      char mine = 0, all[2];
      Require(world.MakeBootstrap(rank)->AllGather(&mine, 1, all));
    };
    // Nothing that rank 0 starts ends, and gives memory back, before rank 1 starts.
    if (rank == 1) meet();
    // Started in equal order on both; each rank stops when its memory is used up, then both run the
    // rest.
    size_t started = 0;
    for (; started < data.size(); ++started) {
      PatternCall call = Call(Pattern::kAllReduce);
      call.matrix.data = reinterpret_cast<std::byte*>(data[started].data());
      Require(StridedLayout::General(500, 1, 500, sizeof(double), &call.matrix.layout));
      std::unique_ptr<Operation> operation;
      const Status status = me.group->Start(call, &operation);
      if (status.code() == StatusCode::kNoResource) break;
      Require(status);
      operations.push_back(std::move(operation));
    }
    if (rank == 0) {
      EXPECT_LT(started, data.size());
      meet();
    }
    EXPECT_GT(started, 0u);
    for (const std::unique_ptr<Operation>& operation : operations) Require(operation->Wait());
    for (size_t i = started; i < data.size(); ++i) {
      Require(me.Run(Call(Pattern::kAllReduce), &data[i]));
    }
    for (const std::vector<double>& d : data) EXPECT_EQ(d[499], 3.0);
  });
}

// Long sums of any order go along the wide tree there, where others go by reduce-scatter +
// allgather.
TEST_P(Semantics, RanksThatShareMemoryAndProcessorsDoNotDeal) {
  if (Semantics::GetParam().hosts > 1) GTEST_SKIP() << "there they go by host";
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  OnRanks(4, [&](InprocWorld& world, int rank) {
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    Rank me(world, rank);
    const auto messages = [&](const Topology& topology) {
      PatternCall call = Call(Pattern::kAllReduce, 0, topology);
      call.op = CombineOp::kAbsMax;
      std::vector<double> data(32 << 10, rank);
      OperationStatistics statistics;
      Require(me.Run(call, &data, &statistics));
      EXPECT_EQ(data.back(), 3);
      return statistics.messages_sent;
    };
    const bool crowded = me.endpoint->edges() != nullptr;  // inproc does not know
    const Topology topology =
        crowded ? Topology{Shape::kTree, 8} : Topology{Shape::kReduceScatterAllgather, 0};
    EXPECT_EQ(messages({Shape::kFree, 0}), messages(topology));
  });
}

TEST_P(Semantics, WrongArgumentsAreRefusedBeforeAnythingHappens) {
  OnRanks(1, [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(4);
    const auto refused = [&](const PatternCall& call, const std::string& text) {
      const Status status = me.Run(call, &data);
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
      EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
    };
    refused(Call(Pattern::kBroadcast, 1), "rank 1 is outside 0..0");
    refused(Call(Pattern::kSend, -1), "rank -1");
    refused(Call(Pattern::kBroadcast, 0, {Shape::kHypercube, 0}), "topology");
    refused(Call(Pattern::kBroadcast, 0, {Shape::kTree, 1}), "1 is below 2");
    refused(Call(Pattern::kMultiBroadcast), "blocks");
    PatternCall call = Call(Pattern::kReduce);
    call.type = Element::kFloat;
    refused(call, "float");
    call = Call(Pattern::kBroadcast);
    call.scope = ChannelKind::kPointToPoint;
    refused(call, "scope");
    Require(me.Run(Call(Pattern::kBarrier), &data));
  });
}

std::string NameOf(const testing::TestParamInfo<Transport>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Over, Semantics, testing::ValuesIn(Transports()), NameOf);
INSTANTIATE_TEST_SUITE_P(Over, Mismatch, testing::ValuesIn(Transports()), NameOf);

}  // namespace
}  // namespace brigade
