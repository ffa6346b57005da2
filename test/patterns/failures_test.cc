// A failure on one rank ends the calls of all, on every transport whose ranks can be threads or run
// in virtual time. A failed rank stays without calls, so its end releases no other rank.

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/abort.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/group/group.h"
#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/run_processes.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "test/support/thread_hosts.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/sim/sim_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

enum class Kind { kInproc, kInprocInPeerMemory, kShm, kTwoHosts, kTcp, kSockets, kSim };
constexpr Kind kThreadKinds[] = {Kind::kInproc, Kind::kInprocInPeerMemory,
                                 Kind::kShm,    Kind::kTwoHosts,
                                 Kind::kTcp,    Kind::kSockets};

const char* NameOf(Kind kind) {
  constexpr const char* kNames[] = {
      "inproc", "inproc_in_peer_memory", "shm", "two_hosts", "tcp", "sockets", "sim"};
  return kNames[static_cast<int>(kind)];
}

InprocOptions OptionsOf(Kind kind) {
  InprocOptions options;
  options.lands_in_peer_memory = kind == Kind::kInprocInPeerMemory;
  return options;
}

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<Endpoint> NewEndpoint(Kind kind, InprocWorld* world, int rank) {
  std::unique_ptr<Endpoint> endpoint;
  switch (kind) {
    case Kind::kTwoHosts:
      return AutoEndpointOn(rank % 2, world, rank);
    case Kind::kShm:
      Require(CreateShmEndpoint(&endpoint));
      return endpoint;
    case Kind::kTcp:
    case Kind::kSockets: {
      TcpOptions options;
      options.interface = "lo";
      options.plain_sockets = kind == Kind::kSockets;
      options.log = [](const std::string&) {};
      Require(CreateTcpEndpoint(options, &endpoint));
      return endpoint;
    }
    default:
      return world->CreateEndpoint(rank);
  }
}

EngineOptions Small() {
  EngineOptions options;
  options.chunk_bytes = 1024;
  options.staging_bytes = 64 * 1024;
  options.calibrate = EngineOptions::Calibrate::kNever;
  return options;
}

// Shared state of the ranks of a job.
struct Job {
  explicit Job(int size) : ranks(size), outcomes(static_cast<size_t>(size)) {}
  // Without a call of the library.
  void AwaitAll() {
    for (++over; over < ranks;) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const int ranks;
  std::atomic<int> over{0};
  std::vector<Status> outcomes;
};

// One rank's endpoint, engine and group of all ranks.
struct Rank {
  Rank(std::unique_ptr<Endpoint> own, Bootstrap* bootstrap)
      : rank(bootstrap->rank()), ranks(bootstrap->size()), endpoint(std::move(own)) {
    Require(Engine::Create(endpoint.get(), Small(), &engine));
    Require(Group::Create(engine.get(), bootstrap, 1, ranks, &group));
  }

  // Returns a call whose matrix, or each of its blocks, has `elems` elements.
  PatternCall Call(Pattern pattern, int root, size_t elems) {
    PatternCall call;
    call.pattern = pattern;
    call.root = root;
    data.resize(2 * static_cast<size_t>(ranks) + 1);  // blocks, sent blocks, matrix
    blocks.clear();
    for (std::vector<double>& block : data) {
      block.resize(elems);
      Matrix matrix;
      matrix.data = reinterpret_cast<std::byte*>(block.data());
      const auto rows = static_cast<int64_t>(elems);
      Require(StridedLayout::General(rows, 1, rows, sizeof(double), &matrix.layout));
      blocks.push_back(matrix);
    }
    call.matrix = blocks.back();
    call.blocks = blocks.data();
    call.sent = blocks.data() + ranks;
    call.equal_blocks = true;
    const std::vector<Topology>& topologies = EntryOf(pattern).topologies;
    if (!topologies.empty()) call.topology = topologies.front();
    return call;
  }

  // To the next rank, and from the one before; or the call.
  Status Run(const PatternCall& call) {
    if (!IsPair(call.pattern)) return group->Run(call);
    PatternCall half = call;
    half.pattern = Pattern::kSend;
    half.root = (rank + 1) % ranks;
    BRIGADE_RETURN_IF_ERROR(group->Run(half));
    half.pattern = Pattern::kReceive;
    half.root = (rank + ranks - 1) % ranks;
    return group->Run(half);
  }

  const int rank;
  const int ranks;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
  std::vector<std::vector<double>> data;
  std::vector<Matrix> blocks;
};

using Body = std::function<Status(Rank& me)>;

// Runs body on `ranks` ranks. Each stays until all have ended. Returns their results.
std::vector<Status> OnRanks(Kind kind, int ranks, const Body& body) {
  Job job(ranks);
  if (kind == Kind::kSim) {
    MachineDescription machine;
    Require(MachineDescription::Read("transport/machines/fat_nodes_100g.json", &machine));
    machine.ranks_per_host = 3;
    SimWorld world(machine, ranks);
    std::vector<std::unique_ptr<Rank>> all(static_cast<size_t>(ranks));
    Require(world.Run([&](int rank) {
      const auto r = static_cast<size_t>(rank);
      all[r] = std::make_unique<Rank>(world.CreateEndpoint(rank), world.MakeBootstrap(rank).get());
      job.outcomes[r] = body(*all[r]);
    }));
    Require(world.Run([&](int rank) { all[static_cast<size_t>(rank)].reset(); }));
    return job.outcomes;
  }
  RunRanks(ranks, OptionsOf(kind), [&](InprocWorld& world, int rank) {
    Rank me(NewEndpoint(kind, &world, rank), world.MakeBootstrap(rank).get());
    job.outcomes[static_cast<size_t>(rank)] = body(me);
    job.AwaitAll();
  });
  return job.outcomes;
}

class Failures : public testing::TestWithParam<Kind> {};

// The call that is wrong on one rank: longer, or of another pattern where nothing has a length. Its
// first message goes where one of the right call would.
PatternCall Wrong(Rank* me, Pattern pattern, size_t elems) {
  return pattern == Pattern::kBarrier ? me->Call(Pattern::kBroadcast, me->rank, 1)
                                      : me->Call(pattern, 0, elems + 1);
}

TEST_P(Failures, ARankThatDisagreesEndsTheCallsOfAll) {
  for (int p = 0; p < kPatterns; ++p) {
    const auto pattern = static_cast<Pattern>(p);
    if (pattern == Pattern::kReceive) continue;  // goes with kSend
    for (int ranks = 2; ranks <= 8; ++ranks) {
      const size_t elems = ranks % 2 == 0 ? 10 : 3000;
      const int wrong = (p + ranks) % ranks;
      SCOPED_TRACE(std::string(PatternName(pattern)) + " on " + std::to_string(ranks) + " ranks");
      const std::vector<Status> outcomes = OnRanks(GetParam(), ranks, [&](Rank& me) {
        Status status;
        if (me.rank == wrong) status = me.Run(Wrong(&me, pattern, elems));
        const PatternCall call = me.Call(pattern, 0, elems);
        while (status.ok()) status = me.Run(call);
        // It is the same from here on.
        EXPECT_EQ(me.Run(call).ToString(), status.ToString());
        EXPECT_EQ(me.group->failure().ToString(), status.ToString());
        return status;
      });
      int found_out = 0;
      for (int r = 0; r < ranks; ++r) {
        const Status& status = outcomes[static_cast<size_t>(r)];
        EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
        // The text of a rank that another rank enquired of contains its own text, too.
        const std::string own = "rank " + std::to_string(r) + " of the group broke it in ";
        const bool is_told =
            status.message().find(" of the group broke it in ") != std::string::npos;
        if (!is_told || status.message().find(own) != std::string::npos) ++found_out;
      }
      EXPECT_GE(found_out, 1);
    }
  }
}

TEST_P(Failures, StartedOperationsEndToo) {
  for (const int ranks : {2, 5}) {
    const std::vector<Status> outcomes = OnRanks(GetParam(), ranks, [&](Rank& me) {
      const PatternCall call = me.Call(Pattern::kAllReduce, 0, me.rank == 1 ? 30 : 31);
      std::unique_ptr<Operation> operation;
      const Status started = me.group->Start(call, &operation);
      return started.ok() ? operation->Wait() : started;
    });
    for (const Status& status : outcomes) {
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
    }
  }
}

TEST_P(Failures, AnAbortNamesItsRankAndReason) {
  for (const int ranks : {2, 3, 8}) {
    const std::string text(Abort::kMostTextBytes, 'x');
    const std::vector<Status> outcomes = OnRanks(GetParam(), ranks, [&](Rank& me) {
      if (me.rank == 1) {
        me.group->Abort(text + "y");
        return me.group->failure();
      }
      const PatternCall call = me.Call(Pattern::kAllReduce, 0, 100);
      return me.group->Run(call);
    });
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(outcomes[static_cast<size_t>(rank)].ToString(),
                "aborted: rank 1 of the group aborted it: " + text + (rank == 1 ? "y" : ""));
    }
  }
}

TEST_P(Failures, RanksThatAbortAtOnceAllEnd) {
  for (const int ranks : {2, 8}) {
    const std::vector<Status> outcomes = OnRanks(GetParam(), ranks, [&](Rank& me) {
      if (me.rank % 2 == 1) me.group->Abort("of " + std::to_string(me.rank));
      const PatternCall call = me.Call(Pattern::kBarrier, 0, 0);
      return me.group->Run(call);
    });
    for (const Status& status : outcomes) {
      EXPECT_EQ(status.code(), StatusCode::kAborted);
      EXPECT_NE(status.message().find("aborted it: of "), std::string::npos) << status.message();
    }
  }
}

TEST_P(Failures, FailureReportsAnAbortWithoutAWait) {
  const std::vector<Status> outcomes = OnRanks(GetParam(), 3, [&](Rank& me) {
    if (me.rank == 1) me.group->Abort("enough");
    Status status;
    while (status.ok()) status = me.group->failure();
    return status;
  });
  for (const Status& status : outcomes) EXPECT_EQ(status.code(), StatusCode::kAborted);
}

// The last rank makes its call when all others have returned.
TEST_P(Failures, ACallEndsWhenItsTimeIsOver) {
  if (GetParam() == Kind::kSim) GTEST_SKIP() << "there time is not real";
  for (const size_t elems : {size_t{10}, size_t{5000}}) {
    std::atomic<int> returned{0};
    const std::vector<Status> outcomes = OnRanks(GetParam(), 4, [&](Rank& me) {
      PatternCall call = me.Call(Pattern::kAllReduce, 0, elems);
      if (me.rank == 0) call.timeout_seconds = 0.05;
      while (me.rank == 3 && returned < 3) std::this_thread::yield();
      const Status status = me.group->Run(call);
      ++returned;
      return status;
    });
    for (const Status& status : outcomes) {
      EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
      EXPECT_NE(status.message().find("within its time limit of 0.05"), std::string::npos)
          << status.message();
      EXPECT_NE(status.message().find("all_reduce"), std::string::npos) << status.message();
    }
  }
}

// Messages that have always come when they are received: two ranks communicate, and a third aborts.
TEST_P(Failures, CallsThatNeverWaitReturnAnAbort) {
  const std::vector<Status> outcomes = OnRanks(GetParam(), 3, [&](Rank& me) {
    if (me.rank == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      me.group->Abort("enough");
      return me.group->failure();
    }
    PatternCall call = me.Call(Pattern::kSend, 1 - me.rank, 1);
    Status status;
    while (status.ok()) {
      call.pattern = Pattern::kSend;
      status = me.group->Run(call);
      call.pattern = Pattern::kReceive;
      if (status.ok()) status = me.group->Run(call);
    }
    return status;
  });
  for (const Status& status : outcomes) EXPECT_EQ(status.code(), StatusCode::kAborted);
}

// A failure of one group does not affect another of equal ranks.
TEST_P(Failures, OtherGroupsGoOn) {
  if (GetParam() == Kind::kSim) GTEST_SKIP() << "made in RunRanks only";
  RunRanks(3, OptionsOf(GetParam()), [&](InprocWorld& world, int rank) {
    Rank me(NewEndpoint(GetParam(), &world, rank), world.MakeBootstrap(rank).get());
    std::unique_ptr<Group> other;
    Require(Group::Create(me.engine.get(), world.MakeBootstrap(rank).get(), 1, 3, &other));
    if (rank == 0) me.group->Abort("enough");
    const PatternCall call = me.Call(Pattern::kAllReduce, 0, 100);
    for (int i = 0; i < 10; ++i) Require(other->Run(call));
    EXPECT_EQ(me.group->Run(call).code(), StatusCode::kAborted);
    Require(other->Run(call));
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Failures,
                         testing::Values(Kind::kInproc, Kind::kInprocInPeerMemory, Kind::kShm,
                                         Kind::kTwoHosts, Kind::kTcp, Kind::kSockets, Kind::kSim),
                         [](const auto& tested) { return NameOf(tested.param); });

// A program that sleeps until the descriptor of its engine is readable, and makes no call.
class EventLoops : public testing::TestWithParam<Kind> {
 protected:
  // Rank 0 starts a broadcast from rank 1 and sleeps; rank 1 does `other` instead. Returns the
  // outcome of the broadcast.
  static Status OutcomeBeside(const std::function<void(Rank*)>& other) {
    Status outcome;
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      auto me = std::make_unique<Rank>(NewEndpoint(GetParam(), &world, rank),
                                       world.MakeBootstrap(rank).get());
      if (rank == 1) return other(me.get());
      int fd = -1;
      Require(me->engine->OpenEvents(&fd));
      std::unique_ptr<Operation> operation;
      Require(me->group->Start(me->Call(Pattern::kBroadcast, 1, 10), &operation));
      pollfd event{fd, POLLIN, 0};
      while (!operation->Test()) EXPECT_EQ(poll(&event, 1, -1), 1);
      outcome = operation->Wait();
    });
    return outcome;
  }
};

TEST_P(EventLoops, WakeWhenARankIsLostThatHasSentNothing) {
  const Status outcome = OutcomeBeside([](Rank*) {});
  EXPECT_EQ(outcome.code(), StatusCode::kPeerLost) << outcome.ToString();
}

TEST_P(EventLoops, WakeWhenTheCallsDoNotMatch) {
  const Status outcome = OutcomeBeside([](Rank* me) {
    EXPECT_EQ(me->group->Run(PatternCall()).code(), StatusCode::kMismatch);  // a barrier
  });
  EXPECT_EQ(outcome.code(), StatusCode::kMismatch) << outcome.ToString();
}

INSTANTIATE_TEST_SUITE_P(Over, EventLoops, testing::Values(Kind::kShm, Kind::kTcp, Kind::kSockets),
                         [](const auto& tested) { return NameOf(tested.param); });

// Cannot open its second group.
class Once : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  Status OpenGroup(Bootstrap* bootstrap, GroupId* group) override {
    if (opened_++ == 0) return ForwardingEndpoint::OpenGroup(bootstrap, group);
    GroupId none = -1;
    Require(ForwardingEndpoint::OpenGroup(bootstrap, &none));
    ForwardingEndpoint::CloseGroup(none);
    return Status(StatusCode::kOutOfMemory, "no second one");
  }

 private:
  int opened_ = 0;
};

TEST(Creation, FailsOnAllIfItFailsOnOne) {
  RunRanks(4, InprocOptions(), [&](InprocWorld& world, int rank) {
    std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    if (rank == 2) endpoint = std::make_unique<Once>(std::move(endpoint));
    Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
    std::unique_ptr<Group> second;
    const Status status =
        Group::Create(me.engine.get(), world.MakeBootstrap(rank).get(), 2, 2, &second);
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message().find("no second one"), std::string::npos) << status.message();
    if (rank != 2) {
      EXPECT_NE(status.message().find("rank 2"), std::string::npos) << status.message();
    }
    EXPECT_EQ(second, nullptr);
    Require(me.group->Run(me.Call(Pattern::kBarrier, 0, 0)));
  });
}

// A rank that has no memory left then is not awaited for ever.
TEST(Creation, WithoutMemoryBehindTheOpeningFailsOnAllAndClosesTheGroup) {
  class NoHandlers : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    void SetControlHandler(GroupId group, ControlHandler* handler) override {
      ForwardingEndpoint::SetControlHandler(group, handler);
      if (has_no_memory) throw std::bad_alloc();
    }
    void CloseGroup(GroupId group) override {
      ++closed;
      ForwardingEndpoint::CloseGroup(group);
    }
    bool has_no_memory = false;
    int closed = 0;
  };
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    NoHandlers endpoint(world.CreateEndpoint(rank));
    endpoint.has_no_memory = rank == 1;
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(&endpoint, Small(), &engine));
    std::unique_ptr<Group> group;
    const Status status =
        Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, 2, &group);
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
    EXPECT_EQ(group, nullptr);
    EXPECT_EQ(endpoint.closed, 1);
  });
}

// The process has no memory left at a later Progress.
class RunsOutOfMemory : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool Progress() override {
    if (--left == 0) throw std::bad_alloc();
    return ForwardingEndpoint::Progress();
  }
  int left = 0;  // calls
};

TEST(NoMemory, InTheMiddleOfACallBreaksItsGroup) {
  for (const size_t elems : {size_t{10}, size_t{5000}}) {
    Job job(2);
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      auto endpoint = std::make_unique<RunsOutOfMemory>(world.CreateEndpoint(rank));
      int* const left = &endpoint->left;
      Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
      const PatternCall call = me.Call(Pattern::kReceive, 1 - rank, elems);
      if (rank == 0) *left = 100;
      job.outcomes[static_cast<size_t>(rank)] = me.group->Run(call);
      job.AwaitAll();
    });
    for (const Status& status : job.outcomes) {
      EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
    }
  }
}

// Inline messages, and zero-copy reads by the kernel. The other rank makes no such call.
TEST(NoMemory, InTheMiddleOfACallOverSharedMemoryBreaksItsGroup) {
  struct Case {
    Pattern pattern;
    Topology topology;
    size_t elems;
  };
  const auto outcomes_of = [](const Case& c, int calls_left) {
    Job job(2);
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      ShmOptions options;
      options.kernel_copies = KernelCopies::Both({256, size_t{64} << 20});
      std::unique_ptr<Endpoint> shm;
      Require(CreateShmEndpoint(options, &shm));
      auto endpoint = std::make_unique<RunsOutOfMemory>(std::move(shm));
      int* const left = &endpoint->left;
      Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
      PatternCall call = me.Call(c.pattern, 0, c.elems);
      call.topology = c.topology;
      Status status;
      if (rank == 0) {
        *left = calls_left;
        try {
          status = me.group->Run(call);
        } catch (const std::bad_alloc&) {
          me.group->Abort("the call has thrown");
        }
      }
      while (status.ok()) status = me.group->failure();
      job.outcomes[static_cast<size_t>(rank)] = status;
      job.AwaitAll();
    });
    return job.outcomes;
  };
  const Case cases[] = {{Pattern::kAllReduce, {Shape::kExchange, 8}, 3},
                        {Pattern::kMultiBroadcast, {Shape::kIncreasingRings, 1}, 10000}};
  for (const Case& c : cases) {
    for (const int calls_left : {1, 3}) {
      for (const Status& status : outcomes_of(c, calls_left)) {
        EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
      }
    }
  }
}

TEST(NoMemory, BehindAStartEndsTheOperation) {
  RunRanks(1, InprocOptions(), [&](InprocWorld& world, int rank) {
    auto endpoint = std::make_unique<RunsOutOfMemory>(world.CreateEndpoint(rank));
    int* const left = &endpoint->left;
    Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
    std::unique_ptr<Operation> operation;
    *left = 1;
    Require(me.group->Start(me.Call(Pattern::kReceive, 0, 10), &operation));
    EXPECT_EQ(operation->Wait().code(), StatusCode::kOutOfMemory);
    EXPECT_EQ(me.group->failure().code(), StatusCode::kOutOfMemory);
    EXPECT_TRUE(me.engine->IsIdle());
  });
}

TEST(NoMemory, ForTheFirstMessageLeavesTheNextOnePossible) {
  class NoMemoryOnce : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    const Capabilities& CapabilitiesTo(GroupId group, int peer) const override {
      if (peer == 1 && std::exchange(has_no_memory, false)) throw std::bad_alloc();
      return ForwardingEndpoint::CapabilitiesTo(group, peer);
    }
    mutable bool has_no_memory = false;
  };
  RunRanks(2, InprocOptions(), [](InprocWorld& world, int rank) {
    auto endpoint = std::make_unique<NoMemoryOnce>(world.CreateEndpoint(rank));
    bool* const has_no_memory = &endpoint->has_no_memory;
    Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
    const PatternCall call = me.Call(rank == 0 ? Pattern::kSend : Pattern::kReceive, 1 - rank, 10);
    *has_no_memory = true;
    EXPECT_THROW((void)me.group->Run(call), std::bad_alloc);
    Require(me.group->Run(call));
  });
}

// The rank waits in a call on another group meanwhile.
TEST(NoMemory, InAStartedOperationBreaksTheGroupOfTheOperation) {
  class NoReceives : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                       Completion* completion) override {
      if (channel.group == group) throw std::bad_alloc();
      return ForwardingEndpoint::PostReceive(channel, peer, receive_buffer, completion);
    }
    Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                              Completion* completion) override {
      if (channel.group == group) throw std::bad_alloc();
      return ForwardingEndpoint::PostReceiveInPlace(channel, peer, range, completion);
    }
    GroupId group = -1;
  };
  std::atomic<bool> is_started{false};  // all that came before would be received in the start
  RunRanks(2, InprocOptions(), [&is_started](InprocWorld& world, int rank) {
    auto endpoint = std::make_unique<NoReceives>(world.CreateEndpoint(rank));
    GroupId* const without_receives = &endpoint->group;
    Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
    std::unique_ptr<Group> other;
    Require(Group::Create(me.engine.get(), world.MakeBootstrap(rank).get(), 1, 2, &other));
    std::unique_ptr<Operation> operation;
    if (rank == 0) {
      Require(other->Start(me.Call(Pattern::kReceive, 1, 50000), &operation));
      *without_receives = other->state()->id;
      is_started = true;
    } else {
      while (!is_started) std::this_thread::yield();
      (void)other->Run(me.Call(Pattern::kSend, 0, 50000));
      while (other->failure().ok() && me.group->failure().ok()) std::this_thread::yield();
    }
    const Status barrier = me.group->Run(PatternCall());
    EXPECT_TRUE(barrier.ok()) << barrier.ToString();
    EXPECT_EQ(other->failure().code(), StatusCode::kOutOfMemory) << other->failure().ToString();
    if (rank == 0) {
      EXPECT_EQ(operation->Wait().code(), StatusCode::kOutOfMemory);
    }
  });
}

// Fails to send after a number of segments.
class BreaksDown : public ForwardingEndpoint {
 public:
  BreaksDown(std::unique_ptr<Endpoint> target, int segments)
      : ForwardingEndpoint(std::move(target)), left_(segments) {}
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    if (left_ == 0) return Status(StatusCode::kInternal, "it broke down");
    --left_;
    return ForwardingEndpoint::PostSend(channel, peer, segment, completion);
  }
  SentNow SendNow(const Channel&, int, ConstByteSpan, const LayoutRange&, Completion*,
                  size_t*) override {
    return SentNow::kNo;
  }
  bool SendsInPlace(const Channel&, int, const LayoutRange&) const override { return false; }
  EdgeAccess* edges() override { return nullptr; }

 private:
  int left_;
};

class CalibrationFailures : public testing::TestWithParam<Kind> {};

// Makes a group that calibrates, over endpoints that `wrap` changes, and stores each rank's
// outcome.
template <typename Wrap>
void FailToCalibrate(Job* job, const Kind& transport, const Wrap& wrap) {
  RunRanks(job->ranks, OptionsOf(transport), [&](InprocWorld& world, int rank) {
    const std::unique_ptr<Endpoint> endpoint = wrap(NewEndpoint(transport, &world, rank), rank);
    EngineOptions options = Small();
    options.calibrate = EngineOptions::Calibrate::kAlways;
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), options, &engine));
    std::unique_ptr<Group> group;
    job->outcomes[static_cast<size_t>(rank)] =
        Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, job->ranks, &group);
    EXPECT_EQ(group, nullptr);
    job->AwaitAll();
  });
}

TEST_P(CalibrationFailures, InTheMiddleFailOnAll) {
  setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  for (const int segments : {0, 1, 4, 17, 40}) {
    for (const int broken : {0, 2}) {
      SCOPED_TRACE(testing::Message() << "rank " << broken << " after " << segments << " segments");
      Job job(4);
      FailToCalibrate(&job, GetParam(), [&](std::unique_ptr<Endpoint> endpoint, int rank) {
        return std::make_unique<BreaksDown>(std::move(endpoint), rank == broken ? segments : -1);
      });
      for (const Status& status : job.outcomes) {
        EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
        EXPECT_NE(status.message().find("it broke down"), std::string::npos) << status.ToString();
      }
    }
  }
}

// Has no memory for what the first message from point to point needs, while edges are measured.
class NoMemoryForPairs : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  const Capabilities& CapabilitiesTo(GroupId group, int peer) const override {
    if (is_open_) throw std::bad_alloc();
    return ForwardingEndpoint::CapabilitiesTo(group, peer);
  }
  EdgeAccess* edges() override {
    is_open_ = true;  // the group: all else of it has been made
    return ForwardingEndpoint::edges();
  }

 private:
  bool is_open_ = false;
};

TEST_P(CalibrationFailures, WithoutMemoryFailOnAll) {
  Job job(4);
  FailToCalibrate(&job, GetParam(), [](std::unique_ptr<Endpoint> endpoint, int rank) {
    if (rank == 2) endpoint = std::make_unique<NoMemoryForPairs>(std::move(endpoint));
    return endpoint;
  });
  for (const Status& status : job.outcomes) {
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Over, CalibrationFailures, testing::ValuesIn(kThreadKinds),
                         [](const auto& tested) { return NameOf(tested.param); });

// --- random failures ---

// An action of one rank of a trial in place of a call.
enum class Deed { kLonger, kOtherPattern, kOtherRoot, kAbort, kIdle, kVanish };
constexpr int kDeeds = 6;

struct Trial {
  explicit Trial(unsigned seed) : random(seed) {
    kind = kThreadKinds[random() % std::size(kThreadKinds)];
    ranks = static_cast<int>(2 + random() % 7);
    wrong = static_cast<int>(random() % static_cast<unsigned>(ranks));
    before = static_cast<int>(random() % 12);
    after = static_cast<int>(random() % 4);
    deed = static_cast<Deed>(random() % kDeeds);
    // Ranks that are threads die alone nowhere else.
    if (deed == Deed::kVanish && kind != Kind::kInproc && kind != Kind::kInprocInPeerMemory) {
      deed = Deed::kAbort;
    }
    faults = random() % 2 == 0;
    calls = random();
  }
  std::mt19937 random;
  Kind kind;
  int ranks;
  int wrong;
  int before;  // calls
  int after;
  Deed deed;
  bool faults;
  unsigned calls;  // the seed of all ranks' calls
};

// Calls that differ in the paths of messages may wait for each other without ever meeting: the
// wrong rank sets a limit for its calls.
constexpr double kLimitSeconds = 0.1;

// The next of the calls that all ranks make.
PatternCall NextCall(Rank* me, std::mt19937* random) {
  constexpr size_t kElems[] = {0, 1, 5, 200, 3000};
  const auto pattern = static_cast<Pattern>((*random)() % kPatterns);
  const size_t elems = kElems[(*random)() % std::size(kElems)];
  const int root = static_cast<int>((*random)() % static_cast<unsigned>(me->ranks));
  PatternCall call = me->Call(pattern, root, elems);
  const std::vector<Topology>& topologies = EntryOf(pattern).topologies;
  const unsigned topology = (*random)();
  if (!topologies.empty()) call.topology = topologies[topology % topologies.size()];
  return call;
}

Status RunOrStart(Rank* me, const PatternCall& call, std::mt19937* own) {
  if (IsPair(call.pattern) || (*own)() % 3 != 0) return me->Run(call);
  std::unique_ptr<Operation> operation;
  const Status started = me->group->Start(call, &operation);
  const bool scarce =
      started.code() == StatusCode::kNoResource || started.code() == StatusCode::kOutOfMemory;
  if (scarce) return me->Run(call);
  BRIGADE_RETURN_IF_ERROR(started);
  return operation->Wait();
}

Status PlayWrong(Rank* me, const Trial& trial, InprocWorld* world, std::mt19937* calls) {
  PatternCall call = NextCall(me, calls);
  switch (trial.deed) {
    case Deed::kLonger:
      call = me->Call(call.pattern, call.root, call.matrix.layout.bytes() / sizeof(double) + 1);
      break;
    case Deed::kOtherPattern:
      call.pattern = static_cast<Pattern>((static_cast<int>(call.pattern) + 3) % kPatterns);
      call = me->Call(call.pattern, call.root, 7);
      break;
    case Deed::kOtherRoot:
      call.root = (call.root + 1) % me->ranks;
      break;
    case Deed::kAbort:
      me->group->Abort("deed");
      break;
    case Deed::kIdle:
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      break;
    case Deed::kVanish:
      world->MarkLost(me->rank);
      break;
  }
  call.timeout_seconds = kLimitSeconds;
  return me->Run(call);
}

// Ends on all ranks after every failure: no rank makes calls for ever, and RunRanks reports hanging
// ranks.
void RunTrial(unsigned seed) {
  const Trial trial(seed);
  Job job(trial.ranks);
  RunRanks(trial.ranks, OptionsOf(trial.kind), [&](InprocWorld& world, int rank) {
    std::unique_ptr<Endpoint> endpoint = NewEndpoint(trial.kind, &world, rank);
    if (trial.faults) {
      FaultOptions faults;
      faults.seed = seed + static_cast<unsigned>(rank);
      faults.no_resource = 0.1;
      faults.max_delay = 3;
      endpoint = MakeCheckedEndpoint(MakeFaultEndpoint(std::move(endpoint), faults));
    }
    Rank me(std::move(endpoint), world.MakeBootstrap(rank).get());
    std::mt19937 calls(trial.calls);
    std::mt19937 own(seed + 1000 + static_cast<unsigned>(rank));
    Status status;
    for (int number = 0; status.ok(); ++number) {
      const bool is_wrong = rank == trial.wrong;
      if (is_wrong && number == trial.before) {
        status = PlayWrong(&me, trial, &world, &calls);
        if (status.code() == StatusCode::kInvalidArgument) status = Status();  // nothing happened
      } else if (is_wrong && number > trial.before + trial.after) {
        me.group->Abort("the trial is over");
        status = me.group->failure();
      } else {
        PatternCall call = NextCall(&me, &calls);
        if (is_wrong && number > trial.before) call.timeout_seconds = kLimitSeconds;
        status = RunOrStart(&me, call, &own);
      }
    }
    job.outcomes[static_cast<size_t>(rank)] = status;
    EXPECT_NE(status.code(), StatusCode::kNoResource);
    job.AwaitAll();
  });
  for (const Status& status : job.outcomes) {
    EXPECT_NE(status.message().find("rank "), std::string::npos) << status.ToString();
  }
}

TEST(Random, NoFailureLeavesARankWaiting) {
  const int trials = StressRounds(300, 10000);
  for (int i = 0; i < trials && !testing::Test::HasFailure(); ++i) {
    const unsigned seed = StressSeed() + static_cast<unsigned>(i);
    SCOPED_TRACE("seed " + std::to_string(seed) + " over " + NameOf(Trial(seed).kind));
    RunTrial(seed);
  }
}

// --- random deaths ---

// A rank dies at some call or, by a timer, within one.
struct Death {
  explicit Death(unsigned seed) {
    std::mt19937 random(seed);
    constexpr Kind kKinds[] = {Kind::kShm, Kind::kTcp, Kind::kSockets};
    kind = kKinds[random() % std::size(kKinds)];
    ranks = static_cast<int>(2 + random() % 5);
    victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
    at_call = static_cast<int>(random() % 12);
    within = random() % 2 == 0 ? static_cast<int>(1 + random() % 500) : 0;
    calls = random();
  }
  Kind kind;
  int ranks;
  int victim;
  int at_call;
  int within;      // microseconds from there on
  unsigned calls;  // the seed of all ranks' calls
};

// Returns the error in the end of this rank, if any. The rank stays until all others have ended,
// which are counted in *over.
std::string PlayUntilDeath(const Death& death, Bootstrap* bootstrap, unsigned seed,
                           std::atomic<int>* over) {
  const int rank = bootstrap->rank();
  Rank me(NewEndpoint(death.kind, /*world=*/nullptr, rank), bootstrap);
  std::mt19937 calls(death.calls);
  std::mt19937 own(seed + static_cast<unsigned>(rank));
  Status status;
  for (int number = 0; status.ok(); ++number) {
    const PatternCall call = NextCall(&me, &calls);
    if (rank == death.victim && number >= death.at_call) {
      if (death.within == 0) raise(SIGKILL);
      if (number == death.at_call) ualarm(static_cast<useconds_t>(death.within), 0);
    }
    status = RunOrStart(&me, call, &own);
  }
  for (++*over; *over < death.ranks - 1;)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (status.code() != StatusCode::kPeerLost) return "ends with " + status.ToString();
  const std::string text = "rank " + std::to_string(death.victim) + " of the group (";
  if (status.message().find(text) == std::string::npos)
    return "names not the dead: " + status.ToString();
  return "";
}

TEST(RandomDeaths, LeaveNoRankWaiting) {
  const int trials = StressRounds(60, 2000);
  void* const memory = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const over = new (memory) std::atomic<int>;
  for (int i = 0; i < trials && !testing::Test::HasFailure(); ++i) {
    const unsigned seed = StressSeed() + static_cast<unsigned>(i);
    const Death death(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " over " + NameOf(death.kind));
    *over = 0;
    const std::vector<int> ends = RunProcesses(death.ranks, [&](Bootstrap* bootstrap) {
      const std::string wrong = PlayUntilDeath(death, bootstrap, seed, over);
      if (wrong.empty()) return 0;
      std::fprintf(stderr, "rank %d %s\n", bootstrap->rank(), wrong.c_str());
      return 1;
    });
    for (int rank = 0; rank < death.ranks; ++rank) {
      const int end = ends[static_cast<size_t>(rank)];
      if (rank == death.victim) {
        EXPECT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) != SIGABRT) << "it did not die: " << end;
      } else {
        EXPECT_EQ(end, 0) << "rank " << rank;
      }
    }
  }
  munmap(memory, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace brigade
