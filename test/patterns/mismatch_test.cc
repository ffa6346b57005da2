// Calls that do not match end on all ranks with an error that names both, on every transport whose
// ranks can be threads.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/patterns/mismatch_cases.h"
#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

enum class Kind { kInproc, kInprocInPeerMemory, kShm, kTwoHosts, kTcp };
constexpr int kRanks = 4;

const char* NameOf(Kind kind) {
  constexpr const char* kNames[] = {"inproc", "inproc_in_peer_memory", "shm", "two_hosts", "tcp"};
  return kNames[static_cast<int>(kind)];
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
    case Kind::kTcp: {
      TcpOptions options;
      options.interface = "lo";
      options.log = [](const std::string&) {};
      Require(CreateTcpEndpoint(options, &endpoint));
      return endpoint;
    }
    default:
      return world->CreateEndpoint(rank);
  }
}

// One rank. Messages of a broken group that were not received live as long as its engine.
struct Member {
  Member(Kind kind, InprocWorld* world, int rank) : endpoint(NewEndpoint(kind, world, rank)) {
    Require(Engine::Create(endpoint.get(), MismatchOptions(), &engine));
    NewGroup(world, rank);
  }
  void NewGroup(InprocWorld* world, int rank) {
    group.reset();
    Require(Group::Create(engine.get(), world->MakeBootstrap(rank).get(), 2, 2, &group));
  }
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

class Mismatches : public testing::TestWithParam<Kind> {
 protected:
  void OnRanks(const std::function<void(InprocWorld& world, int rank)>& body) {
    InprocOptions options;
    options.lands_in_peer_memory = GetParam() == Kind::kInprocInPeerMemory;
    RunRanks(kRanks, options, body);
  }
  static void Meet(InprocWorld* world, int rank) {
    std::vector<char> all(kRanks);
    Require(world->MakeBootstrap(rank)->AllGather("", 1, all.data()));
  }
};

TEST_P(Mismatches, EndOnAllRanks) {
  OnRanks([&](InprocWorld& world, int rank) {
    Member me(GetParam(), &world, rank);
    for (const MismatchCase& tested : MismatchCases()) {
      EXPECT_EQ(WrongOutcome(tested, RunCase(me.group.get(), tested), /*goes_on=*/true), "")
          << "rank " << rank;
      Meet(&world, rank);
      me.NewGroup(&world, rank);
    }
  });
}

// No call follows: either all ranks return, or the error names the mismatched calls on all ranks.
TEST_P(Mismatches, AreReportedByAWaitingRank) {
  std::vector<std::atomic<int>> returned(MismatchCases().size());
  OnRanks([&](InprocWorld& world, int rank) {
    Member me(GetParam(), &world, rank);
    for (size_t i = 0; i < MismatchCases().size(); ++i) {
      const MismatchCase& tested = MismatchCases()[i];
      Status status = RunCalls(me.group.get(), tested);
      if (status.ok()) ++returned[i];
      while (status.ok() && returned[i] < kRanks) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        status = me.group->failure();
      }
      if (returned[i] < kRanks) {
        EXPECT_EQ(WrongOutcome(tested, status, /*goes_on=*/false), "") << "rank " << rank;
      }
      Meet(&world, rank);
      me.NewGroup(&world, rank);
    }
  });
}

// Ranks that have returned leave: a rank that waits for one of them detects the mismatch by the
// messages that have come.
TEST_P(Mismatches, AreNamedThoughAllOthersLeave) {
  for (const size_t elems : {size_t{1}, size_t{100}, size_t{3000}}) {
    const MismatchCase tested = MismatchOfRoots(elems);
    for (const bool ends : {false, true}) {  // their engines, and not the group alone
      // Messages of a lost rank are lost over inproc.
      if (ends && GetParam() != Kind::kShm && GetParam() != Kind::kTcp) continue;
      std::atomic<int> returned{0};
      std::atomic<bool> waits{false};
      std::atomic<bool> over{false};
      OnRanks([&](InprocWorld& world, int rank) {
        Member me(GetParam(), &world, rank);
        const bool is_odd = rank == tested.odd_rank;
        while (is_odd && returned < kRanks - 1) std::this_thread::yield();
        if (is_odd) waits = true;
        const Status status = RunCalls(me.group.get(), tested);
        ++returned;
        if (is_odd) {
          EXPECT_EQ(WrongOutcome(tested, status, /*goes_on=*/false), "");
          over = true;
          return;
        }
        EXPECT_TRUE(status.ok()) << status.ToString();
        while (!waits) std::this_thread::yield();
        me.group.reset();
        while (!ends && !over) std::this_thread::sleep_for(std::chrono::microseconds(200));
      });
    }
  }
}

// A rank that only tests its operations finds what a rank that waits would.
TEST_P(Mismatches, AreFoundByARankThatTests) {
  const MismatchCase tested = MismatchOfRoots(1);
  OnRanks([&](InprocWorld& world, int rank) {
    Member me(GetParam(), &world, rank);
    const bool is_odd = rank == tested.odd_rank;
    const Status status =
        StartAndTest(me.group.get(), is_odd ? tested.odd.front() : tested.others.front());
    EXPECT_EQ(is_odd ? WrongOutcome(tested, status, /*goes_on=*/false) : status.message(), "");
    Meet(&world, rank);
  });
}

// Nothing was sent to it before, nor by it.
TEST_P(Mismatches, ALostRankIsFoundByARankThatTests) {
  std::atomic<bool> over{false};
  OnRanks([&](InprocWorld& world, int rank) {
    Member me(GetParam(), &world, rank);
    Meet(&world, rank);
    if (rank == 1) return;
    if (rank == 0) {
      TestCall receive;
      receive.pattern = Pattern::kReceive;
      receive.root = 1;
      receive.elems = 1;
      EXPECT_EQ(StartAndTest(me.group.get(), receive).code(), StatusCode::kPeerLost);
      over = true;
    }
    while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
}

// A late rank is no mismatch, for any number of checks, and neither are ranks that are ahead.
TEST_P(Mismatches, AreNotSeenWhereRanksAreLate) {
  OnRanks([&](InprocWorld& world, int rank) {
    Member me(GetParam(), &world, rank);
    for (const MismatchCase& tested : MismatchCases()) {
      if (&tested - MismatchCases().data() >= 12) break;
      MismatchCase same = tested;
      same.odd = same.others;
      if (rank == tested.odd_rank) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      for (int i = 0; i < 20; ++i) {
        const Status status = RunCalls(me.group.get(), same);
        ASSERT_TRUE(status.ok()) << tested.name << ": " << status.ToString();
      }
    }
    Meet(&world, rank);
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Mismatches,
                         testing::Values(Kind::kInproc, Kind::kInprocInPeerMemory, Kind::kShm,
                                         Kind::kTwoHosts, Kind::kTcp),
                         [](const auto& tested) { return std::string(NameOf(tested.param)); });

}  // namespace
}  // namespace brigade
