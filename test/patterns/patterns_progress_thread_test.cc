// Progress without calls: ranks have sent and started and then sleep, with their progress threads.
// Right data of every pattern in that case: patterns_threads_test.

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/trace/trace.h"
#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/progress_threads.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

using Body = std::function<void(InprocWorld& world, int rank)>;

InprocOptions WithProgressThread(bool peer_memory = false) {
  InprocOptions options;
  options.allows_progress_thread = true;
  options.lands_in_peer_memory = peer_memory;
  return options;
}

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

void SleepUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

class PatternsProgressThread : public testing::Test {
 protected:
  // The system may list a thread for a while after it has been joined: those of other tests.
  void SetUp() override {
    SleepUntil([] { return ProgressThreads() == 0; });
  }
};

// Its Await ends when a flag is set.
class SoundSleeper : public ForwardingEndpoint {
 public:
  SoundSleeper(std::unique_ptr<Endpoint> target, const std::atomic<bool>* awake)
      : ForwardingEndpoint(std::move(target)), awake_(awake) {}
  // A rest lasts; a short look whether the owner comes back does not.
  void Await(int microseconds) override {
    if (microseconds >= 1000) SleepUntil([&] { return awake_->load(); });
  }

 private:
  const std::atomic<bool>* const awake_;
};

// Decides whether a progress thread may make progress, and counts its actions and how often the
// owner leaves.
class Chooser : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool AllowsProgressThread() const override { return allows_progress_thread; }
  bool Progress() override {
    if (std::this_thread::get_id() != owner_) ++steps_of_progress_threads;
    return target()->Progress();
  }
  void Flush() override { ++flushes; }

  std::atomic<bool> allows_progress_thread{false};
  std::atomic<int> steps_of_progress_threads{0};
  int flushes = 0;

 private:
  const std::thread::id owner_ = std::this_thread::get_id();
};

// Something always moves, and that is counted.
class Busy : public ForwardingEndpoint {
 public:
  Busy(std::unique_ptr<Endpoint> target, std::atomic<int>* moves)
      : ForwardingEndpoint(std::move(target)), moves_(moves) {}
  bool Progress() override {
    (void)target()->Progress();
    ++*moves_;
    return true;
  }

 private:
  std::atomic<int>* const moves_;
};

// Has no memory in the first step of the progress thread.
class NoMemoryBesideCalls : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool Progress() override {
    const bool is_owner = std::this_thread::get_id() == owner_;
    if (!is_owner && !std::exchange(has_thrown_, true)) throw std::bad_alloc();
    return target()->Progress();
  }

 private:
  const std::thread::id owner_ = std::this_thread::get_id();
  bool has_thrown_ = false;
};

// Ends a forked child that closes a group of its parent.
class OfOneProcess : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  void CloseGroup(GroupId group) override {
    if (getpid() != process_) _exit(100);
    target()->CloseGroup(group);
  }

 private:
  const pid_t process_ = getpid();
};

using Wrap = std::function<std::unique_ptr<Endpoint>(std::unique_ptr<Endpoint>)>;

// One rank's endpoint, engine and group of all ranks.
struct Rank {
  // `refusals`: the probability that the endpoint does not take a post at once.
  Rank(InprocWorld& world, int rank, double refusals = 0,
       const EngineOptions& options = EngineOptions(), const Wrap& wrap = nullptr) {
    FaultOptions faults;
    faults.no_resource = refusals;
    endpoint = MakeCheckedEndpoint(MakeFaultEndpoint(world.CreateEndpoint(rank), faults));
    if (wrap) endpoint = wrap(std::move(endpoint));
    EngineOptions small = options;
    small.chunk_bytes = 1024;
    small.staging_bytes = 64 * 1024;
    Require(Engine::Create(endpoint.get(), small, &engine));
    group = NewGroup(world, rank);
  }

  std::unique_ptr<Group> NewGroup(InprocWorld& world, int rank) {
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
    std::unique_ptr<Group> created;
    Require(Group::Create(engine.get(), bootstrap.get(), 1, bootstrap->size(), &created));
    return created;
  }

  std::unique_ptr<Operation> Start(const PatternCall& call) {
    std::unique_ptr<Operation> operation;
    Require(group->Start(call, &operation));
    return operation;
  }

  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

// Broadcasts go along a ring.
PatternCall Call(Pattern pattern, int root, std::vector<double>* data) {
  PatternCall call;
  call.pattern = pattern;
  call.root = root;
  call.topology = {Shape::kIncreasingRings, 1};
  call.matrix.data = reinterpret_cast<std::byte*>(data->data());
  const auto elems = static_cast<int64_t>(data->size());
  Require(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout));
  return call;
}

TEST_F(PatternsProgressThread, AStartedRelayGoesOn) {
  for (const bool peer_memory : {false, true}) {
    std::atomic<bool> asleep{false};
    std::atomic<bool> received{false};
    RunRanks(3, WithProgressThread(peer_memory), [&](InprocWorld& world, int rank) {
      Rank me(world, rank);
      std::vector<double> data(100000, rank == 0 ? 1.5 : 0);
      const PatternCall call = Call(Pattern::kBroadcast, 0, &data);
      if (rank == 1) {
        const auto operation = me.Start(call);
        asleep = true;
        SleepUntil([&] { return received.load(); });
        Require(operation->Wait());
      } else {
        SleepUntil([&] { return asleep.load(); });
        Require(me.group->Run(call));
      }
      EXPECT_EQ(data.front(), 1.5);
      EXPECT_EQ(data.back(), 1.5);
      if (rank == 2) received = true;
    });
  }
}

// A message that the step was taking may be lost: no rank may wait for it.
TEST_F(PatternsProgressThread, AStepWithoutMemoryBreaksTheGroups) {
  std::atomic<bool> told{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, /*refusals=*/0, EngineOptions(), [&](std::unique_ptr<Endpoint> endpoint) {
      if (rank == 0) endpoint = std::make_unique<NoMemoryBesideCalls>(std::move(endpoint));
      return endpoint;
    });
    const std::unique_ptr<Group> another = me.NewGroup(world, rank);
    std::vector<double> data(10);
    std::unique_ptr<Operation> operation;
    if (rank == 0) {
      operation = me.Start(Call(Pattern::kReceive, 1, &data));
      SleepUntil([&] { return told.load(); });
      EXPECT_EQ(operation->Wait().code(), StatusCode::kOutOfMemory);
    } else {
      SleepUntil([&] { return !me.group->failure().ok() && !another->failure().ok(); });
      told = true;
    }
    for (const Group* const group : {me.group.get(), another.get()}) {
      EXPECT_EQ(group->failure().code(), StatusCode::kOutOfMemory) << group->failure().ToString();
    }
  });
}

TEST_F(PatternsProgressThread, AReturnedSendArrivesThoughItWasRefusedAtFirst) {
  std::atomic<bool> sent{false};
  std::atomic<bool> received{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, rank == 0 ? 0.9 : 0);
    std::vector<double> data(100000, rank == 0 ? 2.5 : 0);
    if (rank == 0) {
      Require(me.group->Run(Call(Pattern::kSend, 1, &data)));
      sent = true;
      SleepUntil([&] { return received.load(); });
    } else {
      SleepUntil([&] { return sent.load(); });
      Require(me.group->Run(Call(Pattern::kReceive, 0, &data)));
      EXPECT_EQ(data.front(), 2.5);
      EXPECT_EQ(data.back(), 2.5);
      received = true;
    }
  });
}

TEST_F(PatternsProgressThread, TheProgressThreadReturnsARelaysLeases) {
  std::atomic<bool> drained{false};
  RunRanks(3, WithProgressThread(/*peer_memory=*/true), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(100000, rank == 0 ? 3.5 : 0);
    Require(me.group->Run(Call(Pattern::kBroadcast, 0, &data)));
    EXPECT_EQ(data.back(), 3.5);
    if (rank == 0) {
      Require(me.engine->Drain());
      drained = true;
    }
    SleepUntil([&] { return drained.load(); });
  });
}

// The others come to the new group only after they have received.
TEST_F(PatternsProgressThread, SendsArriveWhileANewGroupIsMade) {
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, rank == 0 ? 0.9 : 0);
    std::vector<double> data(100000, rank == 0 ? 4.5 : 0);
    const bool sends = rank == 0;
    Require(me.group->Run(Call(sends ? Pattern::kSend : Pattern::kReceive, 1 - rank, &data)));
    const std::unique_ptr<Group> another = me.NewGroup(world, rank);
    EXPECT_EQ(data.back(), 4.5);
    Require(me.engine->Drain());
    PatternCall barrier;
    Require(another->Run(barrier));
  });
}

TEST_F(PatternsProgressThread, AFailureIsReturnedByTheNextCall) {
  std::atomic<bool> told{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.overflow_bytes = 8192;
    options.overflow_wait_seconds = 0.05;
    Rank me(world, rank, 0, options);
    if (rank == 0) {
      std::vector<double> data(100000);
      const auto operation = me.Start(Call(Pattern::kBroadcast, 0, &data));
      // Moves nothing by itself.
      SleepUntil([&] { return !me.group->failure().ok(); });
      EXPECT_EQ(operation->Wait().code(), StatusCode::kTimedOut);
      EXPECT_EQ(me.group->Run(PatternCall()).code(), StatusCode::kTimedOut);
      told = true;
    }
    SleepUntil([&] { return told.load(); });
  });
}

// A send that must not wait for receivers tries overflow memory soon, even if no message ever
// moves.
TEST_F(PatternsProgressThread, TheWayToOverflowMemoryIsNotSlept) {
  std::atomic<bool> over{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 0, EngineOptions(), [&](std::unique_ptr<Endpoint> target) {
      return std::make_unique<SoundSleeper>(std::move(target), &over);
    });
    std::vector<double> data(100000);
    if (rank == 0) {
      const auto operation = me.Start(Call(Pattern::kBroadcast, 0, &data));
      SleepUntil([&] { return me.engine->overflow().blocks > 0; });
      over = true;
      Require(operation->Wait());
    } else {
      SleepUntil([&] { return over.load(); });
      Require(me.group->Run(Call(Pattern::kBroadcast, 0, &data)));
    }
    Require(me.engine->Drain());
  });
}

TEST_F(PatternsProgressThread, ALostPeerIsNoticed) {
  std::atomic<bool> started{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    if (rank == 1) {
      SleepUntil([&] { return started.load(); });
      return;
    }
    std::vector<double> data(10);
    const auto operation = me.Start(Call(Pattern::kReceive, 1, &data));
    started = true;
    SleepUntil([&] { return !me.group->failure().ok(); });
    EXPECT_EQ(operation->Wait().code(), StatusCode::kPeerLost);
  });
}

TEST_F(PatternsProgressThread, ThereIsNoThreadWithoutWorkForIt) {
  RunRanks(1, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(1000, 1);
    for (int i = 0; i < 10; ++i) {
      Require(me.group->Run(Call(Pattern::kAllReduce, 0, &data)));
      Require(me.Start(Call(Pattern::kBroadcast, 0, &data))->Wait());
    }
    EXPECT_EQ(ProgressThreads(), 0);
  });
  // Nor over an endpoint that does not allow a progress thread.
  std::atomic<int> seen{0};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    PatternCall barrier;
    const auto operation = me.Start(barrier);
    EXPECT_EQ(ProgressThreads(), 0);
    Require(operation->Wait());
    ++seen;
    SleepUntil([&] { return seen == 2; });
  });
}

TEST_F(PatternsProgressThread, MakesProgressOnlyWhileTheEndpointAllowsIt) {
  RunRanks(1, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Chooser* chooser = nullptr;
    Rank me(world, rank, 0, EngineOptions(), [&](std::unique_ptr<Endpoint> target) {
      auto wrapped = std::make_unique<Chooser>(std::move(target));
      chooser = wrapped.get();
      return wrapped;
    });
    std::unique_ptr<Group> another = me.NewGroup(world, rank);
    std::vector<double> data(10);
    const auto operation = me.Start(Call(Pattern::kReceive, 0, &data));
    EXPECT_EQ(ProgressThreads(), 0);
    EXPECT_GT(chooser->flushes, 0) << "nobody may call for long";
    // Once a group is closed.
    chooser->allows_progress_thread = true;
    another.reset();
    SleepUntil([&] { return chooser->steps_of_progress_threads > 0; });
    // And no more from one call to the next.
    chooser->allows_progress_thread = false;
    me.engine->Progress();
    const int steps = chooser->steps_of_progress_threads;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(chooser->steps_of_progress_threads, steps);
    Require(me.group->Run(Call(Pattern::kSend, 0, &data)));
    Require(operation->Wait());
  });
}

TEST_F(PatternsProgressThread, ListenersAreNotifiedWhetherItAnswers) {
  struct Listening : Engine::Listener {
    void OnProgressThread(bool answers) override { told.push_back(answers); }
    std::vector<bool> told;
  };
  RunRanks(1, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Chooser* chooser = nullptr;
    Rank me(world, rank, 0, EngineOptions(), [&](std::unique_ptr<Endpoint> target) {
      auto wrapped = std::make_unique<Chooser>(std::move(target));
      chooser = wrapped.get();
      return wrapped;
    });
    Listening first, second;
    const auto in_turn = [&](const std::function<void()>& call) {
      const Engine::ProgressGuard guard(me.engine.get());
      call();
    };
    in_turn([&] { me.engine->Listen(&first); });
    EXPECT_TRUE(first.told.empty());
    in_turn([&] {
      chooser->allows_progress_thread = true;
      me.engine->RecheckProgressThread();
      EXPECT_TRUE(first.told.empty()) << "there may be no thread to be had";
    });
    EXPECT_EQ(first.told, std::vector<bool>({true}));
    std::vector<std::unique_ptr<Group>> groups;
    in_turn([&] { me.engine->Listen(&second); });
    EXPECT_EQ(second.told, std::vector<bool>({true}));
    // Before the call that takes it away returns.
    chooser->allows_progress_thread = false;
    groups.push_back(me.NewGroup(world, rank));
    EXPECT_EQ(first.told, std::vector<bool>({true, false}));
    EXPECT_EQ(second.told, first.told);
    in_turn([&] { me.engine->Ignore(&first); });
    chooser->allows_progress_thread = true;
    groups.push_back(me.NewGroup(world, rank));
    EXPECT_EQ(first.told, std::vector<bool>({true, false}));
    EXPECT_EQ(second.told, std::vector<bool>({true, false, true}));
    in_turn([&] { me.engine->Ignore(&second); });
  });
}

// However often the transport moves something meanwhile.
TEST_F(PatternsProgressThread, AWaitIsOneInTheTrace) {
  const std::string file = testing::TempDir() + "/wait.json";
  Require(Trace::Start(file, 0, 1));
  std::atomic<int> moves[2] = {};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 0, EngineOptions(), [&](std::unique_ptr<Endpoint> target) {
      return std::make_unique<Busy>(std::move(target), &moves[rank]);
    });
    std::vector<double> data(10000);
    if (rank == 1) SleepUntil([&] { return moves[0] > 10000; });
    Require(me.group->Run(Call(rank == 0 ? Pattern::kReceive : Pattern::kSend, 1 - rank, &data)));
    Require(me.engine->Drain());
  });
  Require(Trace::Stop());
  std::ifstream trace(Trace::PartOf(file, 0));
  const std::string text{std::istreambuf_iterator<char>(trace), std::istreambuf_iterator<char>()};
  int waits = 0;
  for (size_t at = 0; (at = text.find("\"name\":\"wait\"", at)) != std::string::npos; ++at) ++waits;
  EXPECT_GT(waits, 0);
  EXPECT_LT(waits, 500) << "hardly more than segments";
}

// Without a thread nothing would make the descriptor readable. No stack is as long as the default
// that is set here.
TEST_F(PatternsProgressThread, EventsNeedTheThread) {
  RunRanks(1, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    pthread_attr_t before;
    ASSERT_EQ(pthread_getattr_default_np(&before), 0);
    pthread_attr_t longest;
    ASSERT_EQ(pthread_attr_init(&longest), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&longest, size_t{1} << 60), 0);
    ASSERT_EQ(pthread_setattr_default_np(&longest), 0);
    int fd = -1;
    EXPECT_EQ(me.engine->OpenEvents(&fd).code(), StatusCode::kUnavailable);
    EXPECT_EQ(fd, -1);
    ASSERT_EQ(pthread_setattr_default_np(&before), 0);
    Require(me.engine->OpenEvents(&fd));
    EXPECT_EQ(ProgressThreads(), 1);
  });
}

TEST_F(PatternsProgressThread, TheThreadEndsWithItsEngine) {
  std::atomic<bool> started{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(10);
    if (rank == 1) {
      SleepUntil([&] { return started.load(); });
      Require(me.group->Run(Call(Pattern::kSend, 0, &data)));
      Require(me.engine->Drain());
      return;
    }
    const auto operation = me.Start(Call(Pattern::kReceive, 1, &data));
    EXPECT_EQ(ProgressThreads(), 1);
    started = true;
    Require(operation->Wait());
    EXPECT_GE(ProgressThreads(), 1) << "it sleeps";
    me.group.reset();
    me.engine.reset();
    SleepUntil([] { return ProgressThreads() == 0; });
  });
}

// Two threads make progress in many alternations, beside all readers of their shared state.
TEST_F(PatternsProgressThread, ManyTurns) {
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 0.1);
    std::vector<double> in(500);
    std::vector<double> out(500);
    for (int i = 0; i < 2000; ++i) {
      out.assign(out.size(), i);
      const auto receive = me.Start(Call(Pattern::kReceive, 1 - rank, &in));
      if ((i + rank) % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      Require(me.group->Run(Call(Pattern::kSend, 1 - rank, &out)));
      EXPECT_LE(me.engine->staging().in_use_bytes, me.engine->staging().budget_bytes);
      (void)me.engine->overflow();
      me.engine->Progress();
      if (i % 100 == 0) me.engine->Trim();
      if (i % 3 == 0) (void)receive->Test();
      Require(me.group->failure());
      Require(receive->Wait());
      EXPECT_EQ(in.back(), i);
    }
    Require(me.engine->Drain());
    PatternCall barrier;
    Require(me.group->Run(barrier));
  });
}

TEST_F(PatternsProgressThread, AForkedChildLeavesEverythingToItsParent) {
  std::atomic<bool> forked{false};
  RunRanks(2, WithProgressThread(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 0, EngineOptions(), [](std::unique_ptr<Endpoint> target) {
      return std::make_unique<OfOneProcess>(std::move(target));
    });
    std::vector<double> data(100000, rank == 0 ? 5.5 : 0);
    std::vector<double> answer(1, rank == 0 ? 0 : 6.5);
    if (rank == 0) {
      std::unique_ptr<Operation> operation = me.Start(Call(Pattern::kReceive, 1, &answer));
      Require(me.group->Run(Call(Pattern::kSend, 1, &data)));
      SleepUntil([] { return ProgressThreads() == 1; });
      const pid_t child = fork();
      if (child == 0) {
        const bool fails =
            me.group->failure().code() == StatusCode::kUnavailable &&
            me.group->cause().rank == -1 &&
            me.group->Run(Call(Pattern::kSend, 1, &data)).code() == StatusCode::kUnavailable &&
            operation->Wait().code() == StatusCode::kUnavailable;
        if (!fails) _exit(101);
        operation.reset();  // waits for nothing
        me.group.reset();   // closes nothing
        me.engine.reset();  // waits for nothing
        _exit(ProgressThreads());
      }
      int outcome = -1;
      EXPECT_EQ(waitpid(child, &outcome, 0), child);
      EXPECT_EQ(outcome, 0);
      forked = true;
      Require(operation->Wait());
      EXPECT_EQ(answer.back(), 6.5);
      Require(me.engine->Drain());
    } else {
      SleepUntil([&] { return forked.load(); });
      Require(me.group->Run(Call(Pattern::kReceive, 0, &data)));
      EXPECT_EQ(data.back(), 5.5);
      Require(me.group->Run(Call(Pattern::kSend, 0, &answer)));
      Require(me.engine->Drain());
    }
  });
}

// Ends the process while one rank's progress thread waits for a message that never comes.
void ExitAmidWork() {
  RunRanks(2, WithProgressThread(), [](InprocWorld& world, int rank) {
    Rank me(world, rank);
    std::vector<double> data(10);
    if (rank == 1) SleepUntil([] { return false; });
    const auto operation = me.Start(Call(Pattern::kReceive, 1, &data));
    SleepUntil([] { return ProgressThreads() == 1; });
    std::exit(7);
  });
}

TEST(PatternsProgressThreadDeathTest, AProcessEndsWhileItsProgressThreadSleeps) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(ExitAmidWork(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace brigade
