// Groups that are made of a group: by colour, by a list, as a copy; over every transport that ranks
// as threads can have, also while messages of other groups are under way, and after failures.

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/group/group_bootstrap.h"
#include "test/support/all_patterns.h"
#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/machines/machine_description.h"
#include "transport/shm/shm_transport.h"
#include "transport/sim/sim_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

struct Setting {
  std::string name;
  enum class Transport { kInproc, kShm, kTcp, kHosts } transport = Transport::kInproc;
  InprocOptions inproc;
  bool faults = false;
};

std::vector<Setting> Settings() {
  using Transport = Setting::Transport;
  std::vector<Setting> all = {
      {"inproc", Transport::kInproc, {}, false}, {"faults", Transport::kInproc, {}, true},
      {"peer", Transport::kInproc, {}, true},    {"progress_thread", Transport::kInproc, {}, false},
      {"shm", Transport::kShm, {}, false},       {"tcp", Transport::kTcp, {}, false},
      {"hosts", Transport::kHosts, {}, false}};
  all[2].inproc.lands_in_peer_memory = true;
  all[3].inproc.allows_progress_thread = true;
  return all;
}

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

void Expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

// The endpoint and the engine of a rank, and the group of all ranks.
class Rank {
 public:
  Rank(const Setting& setting, InprocWorld* world, int rank) : world_(world), rank_(rank) {
    std::unique_ptr<Endpoint> endpoint;
    switch (setting.transport) {
      case Setting::Transport::kInproc:
        endpoint = world->CreateEndpoint(rank);
        break;
      case Setting::Transport::kShm:
        Require(CreateShmEndpoint(&endpoint));
        break;
      case Setting::Transport::kTcp: {
        TcpOptions options;
        options.interface = "lo";
        Require(CreateTcpEndpoint(options, &endpoint));
        break;
      }
      case Setting::Transport::kHosts:
        endpoint = AutoEndpointOn(rank % 2, world, rank);
        break;
    }
    if (setting.faults) {
      FaultOptions faults;
      faults.seed = static_cast<uint64_t>(rank) + 1;
      faults.no_resource = 0.2;
      faults.max_delay = 5;
      endpoint = MakeFaultEndpoint(std::move(endpoint), faults);
    }
    endpoint_ = MakeCheckedEndpoint(std::move(endpoint));
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = size_t{512} << 10;
    Require(Engine::Create(endpoint_.get(), options, &engine_));
    Require(
        Group::Create(engine_.get(), world->MakeBootstrap(rank).get(), 1, world->ranks(), &group_));
  }

  // No rank leaves while the last sends of others are still completing.
  void Leave(Group* group) {
    Require(group->Run(PatternCall()));
    Require(engine_->Drain());
    while (endpoint_->HoldsControl()) engine_->Progress();
    std::vector<char> all(static_cast<size_t>(world_->ranks()));
    Require(world_->MakeBootstrap(rank_)->AllGather("", 1, all.data()));
  }

  int rank() const { return rank_; }
  Group* group() { return group_.get(); }
  Engine* engine() { return engine_.get(); }

 private:
  InprocWorld* const world_;
  const int rank_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Group> group_;
};

class GroupSplitTest : public ::testing::TestWithParam<Setting> {
 protected:
  static void OnRanks(int ranks, const std::function<void(Rank&)>& body, bool leaves = true) {
    RunRanks(ranks, GetParam().inproc, [&](InprocWorld& world, int rank) {
      Rank self(GetParam(), &world, rank);
      body(self);
      if (leaves) self.Leave(self.group());
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, GroupSplitTest, ::testing::ValuesIn(Settings()),
                         [](const auto& of) { return of.param.name; });

void UseAll(Group* group) {
  for (const int64_t elems : {1, 500}) RunAllPatterns(group, elems);
}

TEST_P(GroupSplitTest, Splits) {
  OnRanks(6, [](Rank& self) {
    const int rank = self.rank();
    std::unique_ptr<Group> part;
    // Two colours of different size, each in the opposite order; rank 3 has none.
    const int colour = rank == 3 ? -1 : rank % 3 == 0 ? 7 : 2;
    Require(self.group()->Split(colour, -rank, &part));
    Expect((part == nullptr) == (rank == 3), "who has a group");
    if (part != nullptr) {
      const std::vector<int> members =
          colour == 7 ? std::vector<int>{0} : std::vector<int>{5, 4, 2, 1};
      Expect(part->rows() == 1 && part->cols() == static_cast<int>(members.size()), "the shape");
      Expect(members[static_cast<size_t>(part->rank())] == rank, "the order");
      UseAll(part.get());
    }
    UseAll(self.group());
    // Of a part, again; keys are equal, so the ranks there decide.
    std::unique_ptr<Group> half;
    if (colour == 2) {
      Require(part->Split(part->rank() / 2, 0, &half));
      Expect(half->cols() == 2 && half->rank() == part->rank() % 2, "the half");
      part.reset();  // groups are independent of their parents
      UseAll(half.get());
    }
  });
}

TEST_P(GroupSplitTest, MakesGridsOfLists) {
  OnRanks(7, [](Rank& self) {
    const std::vector<int> list = {5, 0, 3, 1, 6, 2};
    std::unique_ptr<Group> grid;
    Require(self.group()->FromRanks(list, 2, 3, &grid));
    Expect((grid == nullptr) == (self.rank() == 4), "who has a grid");
    if (grid == nullptr) return;
    Expect(grid->rows() == 2 && grid->cols() == 3, "the shape");
    Expect(list[static_cast<size_t>(grid->rank())] == self.rank(), "the order");
    UseAll(grid.get());
    std::unique_ptr<Group> copy;
    Require(grid->Duplicate(&copy));
    Expect(copy->rows() == 2 && copy->cols() == 3 && copy->rank() == grid->rank(), "the copy");
    UseAll(copy.get());
    UseAll(grid.get());
  });
}

TEST_P(GroupSplitTest, MakesManyGroups) {
  OnRanks(4, [](Rank& self) {
    std::vector<std::unique_ptr<Group>> kept;
    for (int i = 0; i < 30; ++i) {
      std::unique_ptr<Group> group;
      Require(self.group()->Split((self.rank() + i) % 2, i % 3 - self.rank(), &group));
      RunAllPatterns(group.get(), 20);
      if (i % 4 == 0) kept.push_back(std::move(group));
    }
    for (const auto& group : kept) RunAllPatterns(group.get(), 20);
  });
}

// A list that differs, or does not fit, is an error on all ranks, and the group goes on.
TEST_P(GroupSplitTest, RefusesWrongLists) {
  OnRanks(3, [](Rank& self) {
    std::unique_ptr<Group> group;
    const auto refused = [&](const std::vector<int>& ranks, int rows, int cols,
                             const std::string& text) {
      const Status status = self.group()->FromRanks(ranks, rows, cols, &group);
      Expect(status.ToString() == text, status.ToString() + ", not: " + text);
      Expect(group == nullptr, "a group");
    };
    const bool odd = self.rank() == 2;
    const std::string differ = "mismatch: the ranks that make a group of a list differ in ";
    refused({0, odd ? 2 : 1}, 1, 2, differ + "place 1 of the list: rank 0 has 1, rank 2 has 2");
    refused({0, 1}, odd ? 2 : 1, odd ? 1 : 2, differ + "rows: rank 0 has 1, rank 2 has 2");
    refused(std::vector<int>(odd ? 1 : 2), 1, 2,
            differ + "the length of the list: rank 0 has 2, rank 2 has 1");
    refused({0, 3}, 1, 2,
            "invalid argument: rank 3 in the list of a new group: the group has 3 ranks, from 0");
    refused({1, 1}, 1, 2, "invalid argument: rank 1 is twice in the list of a new group");
    refused({1, 0}, 2, 2,
            "invalid argument: a grid of 2 x 2 has more ranks than the group, which has 3");
    refused({1, 0}, 3, 1, "invalid argument: a grid of 3 x 1 does not fit a list of 2 ranks");
    refused({}, 0, 0, "invalid argument: a grid of 0 x 0 does not fit a list of 0 ranks");
    UseAll(self.group());
  });
}

// Messages of other groups, and of the group itself, are under way in every phase of a split.
TEST_P(GroupSplitTest, MessagesAreUnderWayMeanwhile) {
  constexpr int kRanks = 4;
  constexpr size_t kElems = 3000;  // many chunks
  OnRanks(kRanks, [](Rank& self) {
    std::unique_ptr<Group> other;
    Require(self.group()->Duplicate(&other));
    const int next = (self.rank() + 1) % kRanks;
    const int previous = (self.rank() + kRanks - 1) % kRanks;
    for (int i = 0; i < 8; ++i) {
      std::vector<double> sent(kElems, self.rank() + 10.0 * i);
      std::vector<double> received(kElems);
      std::vector<double> sum(kElems, self.rank() + 1.0);
      std::vector<std::unique_ptr<Operation>> operations;
      const auto start = [&](Group* group, Pattern pattern, int peer, std::vector<double>* data) {
        PatternCall call;
        call.pattern = pattern;
        call.root = peer;
        call.matrix.data = reinterpret_cast<std::byte*>(data->data());
        Require(StridedLayout::General(kElems, 1, kElems, sizeof(double), &call.matrix.layout));
        operations.emplace_back();
        Status status;
        while ((status = group->Start(call, &operations.back())).code() ==
               StatusCode::kNoResource) {
          (void)self.engine()->Progress();
        }
        Require(status);
      };
      // Half of the ranks come late to their receives, and half to the all-reduce.
      start(other.get(), Pattern::kSend, next, &sent);
      if (self.rank() % 2 == 0) start(other.get(), Pattern::kReceive, previous, &received);
      if (self.rank() < 2) start(other.get(), Pattern::kAllReduce, 0, &sum);
      std::unique_ptr<Group> part;
      Require(self.group()->Split((self.rank() + i) % 2, 0, &part));
      RunAllPatterns(part.get(), 100);
      if (self.rank() % 2 != 0) start(other.get(), Pattern::kReceive, previous, &received);
      if (self.rank() >= 2) start(other.get(), Pattern::kAllReduce, 0, &sum);
      for (const auto& operation : operations) Require(operation->Wait());
      for (size_t k = 0; k < kElems; ++k) {
        Expect(received[k] == previous + 10.0 * i && sum[k] == 10, "the messages of another group");
      }
    }
  });
}

// Members of one new group gather more often than those of another, and some leave too early.
TEST_P(GroupSplitTest, RoundsGoOnUntilNoRankHasAny) {
  OnRanks(5, [](Rank& self) {
    const int rank = self.rank();
    const std::vector<int> members = rank == 4  ? std::vector<int>()
                                     : rank < 2 ? std::vector<int>{1, 0}
                                                : std::vector<int>{2, 3};
    int gathers = 0;
    Require(GroupBootstrap::Use(self.group(), members, [&](Bootstrap* bootstrap) {
      for (int i = 0; i < (rank < 2 ? 2 : 9); ++i) {
        const std::string mine(static_cast<size_t>(i * 100), static_cast<char>('a' + rank));
        std::string all(2 * mine.size(), '-');
        BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(mine.data(), mine.size(), all.data()));
        for (size_t m = 0; m < 2; ++m) {
          Expect(all.substr(m * mine.size(), mine.size()) ==
                     std::string(mine.size(), static_cast<char>('a' + members[m])),
                 "a gather");
        }
        ++gathers;
      }
      return Status();
    }));
    Expect(gathers == (rank == 4 ? 0 : rank < 2 ? 2 : 9), "the gathers");
    const Status status = GroupBootstrap::Use(self.group(), members, [&](Bootstrap* bootstrap) {
      char all[2];
      return rank == 3 ? Status() : bootstrap->AllGather("", 1, all);
    });
    Expect(status.ToString() ==
               (rank == 2 ? "mismatch: the members of a new group differ in what they gather: rank "
                            "0 1 bytes, rank 1 nothing"
                          : "ok"),
           status.ToString());
    UseAll(self.group());
  });
}

// The data of the other member is all that there is: nothing is read behind it.
TEST_P(GroupSplitTest, AFirstMemberThatLeavesEarlyIsNamed) {
  OnRanks(3, [](Rank& self) {
    const std::vector<int> members = self.rank() == 1 ? std::vector<int>() : std::vector<int>{2, 0};
    const std::string before(size_t{2} << 16, '-');
    std::string all = before;
    const Status status = GroupBootstrap::Use(self.group(), members, [&](Bootstrap* bootstrap) {
      if (bootstrap->rank() == 0) return Status();
      const std::string mine(all.size() / 2, 'x');
      return bootstrap->AllGather(mine.data(), mine.size(), all.data());
    });
    Expect(status.ToString() == (self.rank() == 0
                                     ? "mismatch: the members of a new group differ in what they "
                                       "gather: rank 1 65536 bytes, rank 0 nothing"
                                     : "ok"),
           status.ToString());
    Expect(all == before, "nothing is gathered");
    UseAll(self.group());
  });
}

// A new group that cannot be made leaves its parent as it was.
TEST_P(GroupSplitTest, AFailedGroupLeavesItsParent) {
  OnRanks(4, [](Rank& self) {
    const auto use = [&](const std::vector<int>& members, int cols, std::unique_ptr<Group>* group) {
      return GroupBootstrap::Use(self.group(), members, [&](Bootstrap* bootstrap) {
        return Group::Create(self.engine(), bootstrap, 1, cols, group);
      });
    };
    const bool low = self.rank() < 2;
    std::unique_ptr<Group> group;
    const Status status = use(low ? std::vector<int>{0, 1} : std::vector<int>{2, 3},
                              self.rank() == 1 ? 3 : 2, &group);
    Expect(status.ok() != low, status.ToString());
    if (low) Expect(status.code() == StatusCode::kMismatch, status.ToString());
    if (!low) UseAll(group.get());
    UseAll(self.group());
  });
}

TEST_P(GroupSplitTest, ABrokenGroupHasNoParts) {
  OnRanks(
      3,
      [](Rank& self) {
        std::unique_ptr<Group> part;
        Require(self.group()->Duplicate(&part));
        Require(part->Run(PatternCall()));  // all have it
        if (self.rank() == 1) self.group()->Abort("enough");
        std::unique_ptr<Group> other;
        const Status split = self.group()->Split(0, 0, &other);
        Expect(split.code() == StatusCode::kAborted && other == nullptr, split.ToString());
        Expect(self.group()->FromRanks({0}, 1, 1, &other).code() == StatusCode::kAborted, "a list");
        Expect(self.group()->Duplicate(&other).code() == StatusCode::kAborted, "a copy");
        UseAll(part.get());  // made before, and independent
        self.Leave(part.get());
      },
      /*leaves=*/false);
}

// Breaks the parent on one rank in place of its gather number `at`; -1: on none.
class BreaksAt : public Bootstrap {
 public:
  BreaksAt(Bootstrap* target, Group* parent, int at) : target_(target), parent_(parent), at_(at) {}
  int rank() const override { return target_->rank(); }
  int size() const override { return target_->size(); }
  std::optional<Parent> parent() const override { return target_->parent(); }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    if (at_-- == 0) parent_->Abort("in a gather");
    return target_->AllGather(mine, bytes, all);
  }

 private:
  Bootstrap* const target_;
  Group* const parent_;
  int at_;
};

// In whatever phase of the making of a new group its parent breaks: all ranks get that failure, and
// other groups go on.
TEST_P(GroupSplitTest, TheParentBreaksMeanwhile) {
  OnRanks(3, [](Rank& self) {
    int at = 0;
    for (Status made(StatusCode::kAborted, ""); !made.ok(); ++at) {
      std::unique_ptr<Group> parent;
      std::unique_ptr<Group> group;
      Require(self.group()->Duplicate(&parent));
      made = GroupBootstrap::Use(parent.get(), [&](Bootstrap* bootstrap) {
        BreaksAt breaks(bootstrap, parent.get(), self.rank() == 1 ? at : -1);
        return Group::Create(self.engine(), &breaks, 1, 3, &group);
      });
      Expect(made.ok() || made.ToString() == "aborted: rank 1 of the group aborted it: in a gather",
             made.ToString());
      if (made.ok()) UseAll(group.get());
      UseAll(self.group());
    }
    Expect(at > 3, "the number of gathers");
  });
}

// A rank that has no memory for the new group is not awaited for ever, and the parent stays usable.
TEST_P(GroupSplitTest, ARankWithoutMemoryFailsOnAll) {
  OnRanks(3, [](Rank& self) {
    const bool has_memory = self.rank() != 1;
    std::unique_ptr<Group> group;
    const Status made = GroupBootstrap::Use(self.group(), [&](Bootstrap* bootstrap) {
      if (!has_memory) throw std::bad_alloc();
      return Group::Create(self.engine(), bootstrap, 1, 3, &group);
    });
    Expect(made.code() == (has_memory ? StatusCode::kMismatch : StatusCode::kOutOfMemory),
           made.ToString());
    Expect(group == nullptr, "no group");
    UseAll(self.group());
  });
}

TEST(GroupSplitSimTest, SplitsInVirtualTime) {
  MachineDescription machine;
  ASSERT_TRUE(MachineDescription::Read("transport/machines/fat_nodes_100g.json", &machine).ok());
  SimWorld world(machine, 6);
  Require(world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    std::unique_ptr<Group> group;
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, 6, &group));
    std::unique_ptr<Group> part;
    Require(group->Split(rank % 2, -rank, &part));
    UseAll(part.get());
    std::unique_ptr<Group> grid;
    Require(group->FromRanks({3, 1, 2, 0}, 2, 2, &grid));
    if (grid != nullptr) UseAll(grid.get());
    Require(group->Run(PatternCall()));
    Require(engine->Drain());
  }));
}

}  // namespace
}  // namespace brigade
