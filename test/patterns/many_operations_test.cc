// Many non-blocking operations at once: their limit, and a rank whose start fails beyond it. The
// ranks are threads.

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/auto/auto_endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<Endpoint> NewInproc(InprocWorld* world, int rank) {
  return world->CreateEndpoint(rank);
}

std::unique_ptr<Endpoint> NewShm(InprocWorld*, int) {
  std::unique_ptr<Endpoint> endpoint;
  Require(CreateShmEndpoint(&endpoint));
  return endpoint;
}

std::unique_ptr<Endpoint> NewTcp(InprocWorld*, int) {
  TcpOptions options;
  options.interface = "lo";
  std::unique_ptr<Endpoint> endpoint;
  Require(CreateTcpEndpoint(options, &endpoint));
  return endpoint;
}

// Ranks 0 and 2 are on one host, 1 and 3 on another.
std::unique_ptr<Endpoint> NewAuto(InprocWorld* world, int rank) {
  ShmOptions options;
  options.spans_hosts = true;
  options.host.network_namespace += static_cast<uint64_t>(rank % 2);
  std::unique_ptr<Endpoint> shm;
  Require(CreateShmEndpoint(options, &shm));
  std::vector<AutoTransport> transports;
  transports.push_back({std::move(shm), AutoTransport::Reach::kHost});
  transports.push_back({NewTcp(world, rank), AutoTransport::Reach::kEverywhere});
  return MakeAutoEndpoint(std::move(transports));
}

struct Transport {
  const char* name;
  std::unique_ptr<Endpoint> (*create)(InprocWorld* world, int rank);
};
constexpr Transport kTransports[] = {
    {"inproc", NewInproc}, {"shm", NewShm}, {"tcp", NewTcp}, {"auto", NewAuto}};

constexpr int kRanks = 4;

// One rank of a grid of 2 x 2.
struct Rank {
  Rank(InprocWorld& world, int rank, const EngineOptions& options) {
    endpoint = testing::TestWithParam<Transport>::GetParam().create(&world, rank);
    Require(Engine::Create(endpoint.get(), options, &engine));
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 2, 2, &group));
  }
  static PatternCall On(std::vector<double>* data, PatternCall call) {
    call.matrix.data = reinterpret_cast<std::byte*>(data->data());
    const auto elems = static_cast<int64_t>(data->size());
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout));
    return call;
  }
  Status Start(const PatternCall& call, std::vector<double>* data,
               std::unique_ptr<Operation>* operation) {
    return group->Start(On(data, call), operation);
  }

  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

class ManyOperations : public testing::TestWithParam<Transport> {};

PatternCall Call(Pattern pattern, ChannelKind scope = ChannelKind::kAll) {
  PatternCall call;
  call.pattern = pattern;
  call.scope = scope;
  return call;
}

// As many as a program may want, with the settings that users get.
TEST_P(ManyOperations, SixtyFourShortOnesAreOutstandingAtOnce) {
  constexpr size_t kAtOnce = 64;
  std::atomic<int> started{0};
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, EngineOptions());
    std::vector<std::vector<double>> data(kAtOnce, std::vector<double>(1, rank + 1));
    std::vector<std::unique_ptr<Operation>> operations(kAtOnce);
    // No sum is there before the last rank starts.
    while (rank == kRanks - 1 && started < kRanks - 1) std::this_thread::yield();
    for (size_t i = 0; i < kAtOnce; ++i) {
      const Pattern pattern = i % 4 == 3 ? Pattern::kReduce : Pattern::kAllReduce;
      Require(me.Start(Call(pattern), &data[i], &operations[i]));
    }
    EXPECT_LE(me.engine->staging().in_use_bytes, size_t{128} << 10);
    ++started;
    for (size_t i = 0; i < kAtOnce; ++i) {
      Require(operations[i]->Wait());
      const bool sums = i % 4 != 3 || rank == 0;
      EXPECT_EQ(data[i][0], sums ? 10 : rank + 1) << i;
    }
  });
}

// A rank that is refused a start makes it again until it is taken. Whatever the others have under
// way, it is taken in the end, as long as all ranks make the calls that they share in one order.
TEST_P(ManyOperations, ARefusedStartMadeAgainIsTakenInTheEnd) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const int calls = StressRounds(200, 5000);
  std::atomic<int> refusals{0};
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 16 * options.chunk_bytes;
    Rank me(world, rank, options);
    std::mt19937 common(seed), own(seed + 1 + static_cast<unsigned>(rank));
    std::vector<std::vector<double>> data(static_cast<size_t>(calls));
    std::vector<std::unique_ptr<Operation>> operations(data.size());
    std::vector<double> expected;
    for (size_t i = 0; i < data.size(); ++i) {
      const auto scope = static_cast<ChannelKind>(1 + common() % 3);
      const bool sums = common() % 2 == 0;
      PatternCall call = Call(sums ? Pattern::kAllReduce : Pattern::kBroadcast, scope);
      const int size = me.group->ScopeSize(scope);
      call.root = static_cast<int>(common() % 2);
      data[i].assign(1 + common() % 400, sums || me.group->ScopeRank(scope) == call.root ? 1 : 0);
      expected.push_back(sums ? size : 1);
      if (own() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 300));
      Status status;
      do {
        status = me.Start(call, &data[i], &operations[i]);
        if (status.code() == StatusCode::kNoResource) {
          ++refusals;
          std::this_thread::yield();
        }
      } while (status.code() == StatusCode::kNoResource);
      Require(status);
    }
    for (size_t i = 0; i < data.size(); ++i) {
      Require(operations[i]->Wait());
      ASSERT_EQ(data[i], std::vector<double>(data[i].size(), expected[i])) << "call " << i;
    }
  });
  EXPECT_GT(refusals, 0);
}

// Whatever was started before, and in any order: all receives first, or all sends.
TEST_P(ManyOperations, SendsAndReceivesAreStartedWithoutStagingMemory) {
  constexpr size_t kMessages = 40;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 8 * options.chunk_bytes;
    Rank me(world, rank, options);
    for (const bool sends_first : {false, true}) {
      std::vector<std::vector<double>> data[2];  // sent, received
      std::vector<std::unique_ptr<Operation>> operations;
      for (const bool receives : {!sends_first, sends_first}) {
        PatternCall call = Call(receives ? Pattern::kReceive : Pattern::kSend);
        call.root = (rank + (receives ? kRanks - 1 : 1)) % kRanks;
        for (size_t i = 0; i < kMessages; ++i) {
          data[receives].emplace_back(3000, receives ? 0.0 : static_cast<double>(i));
        }
        for (std::vector<double>& one : data[receives]) {
          operations.emplace_back();
          Require(me.Start(call, &one, &operations.back()));
        }
      }
      for (const auto& operation : operations) Require(operation->Wait());
      for (size_t i = 0; i < kMessages; ++i) {
        ASSERT_EQ(data[1][i], std::vector<double>(3000, static_cast<double>(i)));
      }
    }
  });
}

// With no memory but the core.
TEST_P(ManyOperations, AReceiveThatIsAwaitedHasTheCore) {
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 6 * options.chunk_bytes;
    options.overflow_bytes = 0;
    options.overflow_wait_seconds = 20;
    Rank me(world, rank, options);
    std::vector<double> sent(3000, rank), received(3000);
    PatternCall send = Call(Pattern::kSend), receive = Call(Pattern::kReceive);
    send.root = (rank + 1) % kRanks;
    receive.root = (rank + kRanks - 1) % kRanks;
    std::unique_ptr<Operation> operation;
    Require(me.Start(receive, &received, &operation));
    // Not all ranks send first: the core is for one of both.
    if (rank % 2 == 0) Require(me.group->Run(Rank::On(&sent, send)));
    Require(operation->Wait());
    if (rank % 2 != 0) Require(me.group->Run(Rank::On(&sent, send)));
    EXPECT_EQ(received, std::vector<double>(3000, receive.root));
  });
}

// A start that can never succeed fails on every rank, even on ranks whose own part would fit.
TEST_P(ManyOperations, AStartThatCannotSucceedFailsOnAllRanks) {
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 8 * options.chunk_bytes;  // six of them are the core
    Rank me(world, rank, options);
    std::vector<double> data(1000);
    std::unique_ptr<Operation> operation;
    for (const Pattern pattern : {Pattern::kReduce, Pattern::kBroadcast, Pattern::kAllReduce}) {
      const Status status = me.Start(Call(pattern), &data, &operation);
      EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << PatternName(pattern);
    }
  });
}

std::string NameOf(const testing::TestParamInfo<Transport>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Over, ManyOperations, testing::ValuesIn(kTransports), NameOf);

}  // namespace
}  // namespace brigade
