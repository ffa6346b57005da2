// Properties of auto only; the conformance suite (test/) has the rest.

#include "transport/auto/auto_endpoint.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/registered_region.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/edge/edge_access.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/rules.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->over = true; }) {}
  bool over = false;
};

class Refusing : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  Status OpenGroup(Bootstrap*, GroupId*) override {
    return Status(StatusCode::kUnavailable, "no group");
  }
};

class CountsNudges : public ForwardingEndpoint {
 public:
  CountsNudges(std::unique_ptr<Endpoint> target, std::atomic<int>* nudges)
      : ForwardingEndpoint(std::move(target)), nudges_(nudges) {}
  void Nudge() override { ++*nudges_; }

 private:
  std::atomic<int>* const nudges_;
};

// Ranks as threads; those with the same number in `hosts` are on one host.
class Job {
 public:
  explicit Job(std::vector<int> hosts) : hosts_(std::move(hosts)), tcp_(ranks()), mpi_(ranks()) {}
  int ranks() const { return static_cast<int>(hosts_.size()); }
  // Ranks that have no shared memory, or no TCP.
  std::set<int> without_near;
  std::set<int> without_tcp;
  bool near_refuses = false;  // groups
  std::atomic<int> near_missed{0};
  bool real_tcp = false;
  std::set<int> not_wanting_tcp;
  std::atomic<int> asked{0};  // whether they want it
  std::atomic<int> missed{0};
  std::atomic<int> nudges{0};  // of TCP
  // Runs on another thread while the group is opened.
  std::function<void(Endpoint*, const std::atomic<bool>& open)> while_opening;

  void Run(const std::function<void(Endpoint*, GroupId, int rank)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        const std::unique_ptr<Endpoint> endpoint = NewEndpoint(rank);
        const std::unique_ptr<Bootstrap> bootstrap = tcp_.MakeBootstrap(rank);
        GroupId group = -1;
        std::atomic<bool> open{false};
        std::thread helper([&] {
          if (while_opening) while_opening(endpoint.get(), open);
        });
        const Status status = endpoint->OpenGroup(bootstrap.get(), &group);
        open = true;
        helper.join();
        ASSERT_TRUE(status.ok()) << status.ToString();
        body(endpoint.get(), group, rank);
        endpoint->CloseGroup(group);
        std::vector<char> all(hosts_.size());
        (void)bootstrap->AllGather("", 1, all.data());  // nobody leaves before the others
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::unique_ptr<Endpoint> NewEndpoint(int rank) {
    ShmOptions options;
    options.spans_hosts = true;
    options.host.network_namespace += static_cast<uint64_t>(hosts_[rank]);
    std::unique_ptr<Endpoint> near;
    std::unique_ptr<Endpoint> tcp;
    if (without_near.count(rank) == 0) {
      EXPECT_TRUE(CreateShmEndpoint(options, &near).ok());
    }
    if (real_tcp) {
      TcpOptions tcp_options;
      tcp_options.interface = "lo";
      EXPECT_TRUE(CreateTcpEndpoint(tcp_options, &tcp).ok());
    } else if (without_tcp.count(rank) == 0) {
      tcp = std::make_unique<CountsNudges>(tcp_.CreateEndpoint(rank), &nudges);
    }
    using Reach = AutoTransport::Reach;
    std::vector<AutoTransport> transports;
    if (near_refuses) near = std::make_unique<Refusing>(std::move(near));
    transports.push_back({std::move(near), Reach::kHost});
    transports.back().is_missed = [this](const Status& why) { near_missed += !why.ok(); };
    transports.push_back({std::move(tcp), Reach::kEverywhere, /*polls_per_look=*/4,
                          [this, rank] {
                            ++asked;
                            return not_wanting_tcp.count(rank) == 0;
                          },
                          [this](const Status&) { ++missed; }});
    transports.push_back({mpi_.CreateEndpoint(rank), Reach::kEverywhere});
    return MakeAutoEndpoint(std::move(transports));
  }

  const std::vector<int> hosts_;
  InprocWorld tcp_;
  InprocWorld mpi_;
};

std::string NameOf(Job* job) {
  std::vector<std::string> names(job->ranks());
  job->Run([&](Endpoint* endpoint, GroupId group, int rank) {
    names[rank] = endpoint->CapabilitiesOf(group).name;
  });
  for (const std::string& name : names) EXPECT_EQ(name, names[0]);
  return names[0];
}

TEST(AutoEndpoint, TakesTheNearTransportWhereAllShareAHost) {
  Job one({0, 0, 0});
  EXPECT_EQ(NameOf(&one), "shm");
  Job several({0, 1, 0});
  EXPECT_EQ(NameOf(&several), "shm+inproc");
  Job alone({0, 1, 2});
  EXPECT_EQ(NameOf(&alone), "inproc");
  Job without({0, 0, 0});
  without.without_near = {1};
  EXPECT_EQ(NameOf(&without), "inproc");
}

TEST(AutoEndpoint, WithoutSharedMemoryNoSendCountsAsTaken) {
  Job job({0, 0});
  job.without_near = {0};
  job.Run([](Endpoint* endpoint, GroupId, int) { EXPECT_EQ(endpoint->SendsTaken(), 0u); });
}

// The check may take long.
TEST(AutoEndpoint, ChecksForTcpOnlyBetweenHosts) {
  Job one({0, 0, 0});
  EXPECT_EQ(NameOf(&one), "shm");
  EXPECT_EQ(one.asked, 0);
  Job several({0, 1, 0});
  EXPECT_EQ(NameOf(&several), "shm+inproc");
  EXPECT_EQ(several.asked, 3);
}

// is_missed is called if a group on several hosts would have used TCP.
TEST(AutoEndpoint, MissesTcpOnlyBetweenHosts) {
  for (const bool one_host : {true, false}) {
    for (const bool wanted : {true, false}) {
      Job job(one_host ? std::vector<int>{0, 0, 0} : std::vector<int>{0, 1, 0});
      job.without_tcp = {1, 2};
      if (!wanted) job.not_wanting_tcp = {1, 2};
      EXPECT_EQ(NameOf(&job), one_host ? "shm" : "shm+inproc");
      EXPECT_EQ(job.missed, !one_host && wanted ? 2 : 0);
    }
  }
}

// TCP finds lost ranks in a Nudge.
TEST(AutoEndpoint, NudgesTheTransportsInUse) {
  for (const bool one_host : {true, false}) {
    Job job(one_host ? std::vector<int>{0, 0} : std::vector<int>{0, 1});
    job.Run([](Endpoint* endpoint, GroupId, int) { endpoint->polling()->Nudge(); });
    EXPECT_EQ(job.nudges, one_host ? 0 : 2);
  }
}

// If the ranks of a host cannot share memory after all, the transport near is missed on each.
TEST(AutoEndpoint, MissesSharedMemoryThatCannotBeOpened) {
  Job job({0, 0});
  job.near_refuses = true;
  EXPECT_EQ(NameOf(&job), "inproc");
  EXPECT_EQ(job.near_missed, 2);
}

// One rank of each host calls is_missed, whichever ranks of the host are in the group.
TEST(AutoEndpoint, OnEachHostOneMissesTcp) {
  Job job({0, 1, 1, 0, 1});
  job.without_tcp = {1, 2, 3, 4};
  EXPECT_EQ(NameOf(&job), "shm+inproc");
  EXPECT_EQ(job.missed, 2);
  Job unknown({0, 1, 1});
  unknown.without_near = {0};
  unknown.without_tcp = {1, 2};
  EXPECT_EQ(NameOf(&unknown), "inproc");
  EXPECT_EQ(unknown.missed, 2);
}

TEST(AutoEndpoint, TellsPeersByHost) {
  Job job({5, 3, 3, 7, 5});
  job.Run([&](Endpoint* endpoint, GroupId group, int rank) {
    const std::vector<int> expected = {0, 1, 1, 2, 0};
    for (int peer = 0; peer < job.ranks(); ++peer) {
      EXPECT_EQ(endpoint->HostOf(group, peer), expected[peer]);
      if (peer == rank) continue;
      const bool near = expected[peer] == expected[rank];
      EXPECT_EQ(endpoint->CapabilitiesTo(group, peer).lands_in_peer_memory, near);
      EXPECT_EQ(endpoint->edges()->EdgeTo({group, ChannelKind::kAll}, peer) != nullptr, near);
    }
    const Capabilities& every = endpoint->CapabilitiesOf(group);
    EXPECT_TRUE(every.lands_in_peer_memory);
    EXPECT_TRUE(every.needs_receive_buffer);
    EXPECT_TRUE(every.needs_registered_memory);
    EXPECT_EQ(every.max_inline_bytes, 0u);
  });
}

// If one rank has no TCP, or should not use it, no rank may wait for another on TCP.
TEST(AutoEndpoint, AgreesOnTheFarTransport) {
  for (const char* const otherwise : {"no", "has not", "wants not"}) {
    Job job({0, 1, 0});
    if (otherwise == std::string("has not")) job.without_tcp = {1};
    if (otherwise == std::string("wants not")) job.not_wanting_tcp = {1};
    job.Run([&](Endpoint* endpoint, GroupId group, int rank) {
      const Channel channel{group, ChannelKind::kAll};
      char word = 'w';
      Operation operation;
      if (rank == 0) {
        ASSERT_TRUE(
            endpoint->PostSend(channel, 1, {reinterpret_cast<std::byte*>(&word), 1}, &operation)
                .ok());
      } else if (rank == 1) {
        ASSERT_TRUE(
            endpoint->PostReceive(channel, 0, {reinterpret_cast<std::byte*>(&word), 1}, &operation)
                .ok());
      }
      while (rank < 2 && !operation.over) endpoint->Progress();
    });
  }
}

// Opens no group.
TEST(AutoEndpoint, NamesTheFailureOfThePreferredTransport) {
  InprocWorld world(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      ShmOptions options;
      options.host.network_namespace += static_cast<uint64_t>(rank);
      std::unique_ptr<Endpoint> preferred;
      ASSERT_TRUE(CreateShmEndpoint(options, &preferred).ok());
      std::vector<AutoTransport> transports;
      transports.push_back({std::move(preferred), AutoTransport::Reach::kEverywhere});
      transports.push_back({std::make_unique<Refusing>(world.CreateEndpoint(rank)),
                            AutoTransport::Reach::kEverywhere});
      const std::unique_ptr<Endpoint> endpoint = MakeAutoEndpoint(std::move(transports));
      GroupId group = -1;
      const Status status = endpoint->OpenGroup(world.MakeBootstrap(rank).get(), &group);
      EXPECT_EQ(status.code(), StatusCode::kUnavailable);
      EXPECT_NE(status.message().find("on another host"), std::string::npos) << status.message();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(AutoEndpoint, ReportsWhyItUsesAnotherTransport) {
  InprocWorld refusing(1);
  InprocWorld world(1);
  std::string why;
  std::vector<AutoTransport> transports;
  transports.push_back({std::make_unique<Refusing>(refusing.CreateEndpoint(0)),
                        AutoTransport::Reach::kEverywhere, /*polls_per_look=*/1,
                        /*is_wanted=*/nullptr,
                        [&](const Status& status) { why = status.message(); }});
  transports.push_back({world.CreateEndpoint(0), AutoTransport::Reach::kEverywhere});
  const std::unique_ptr<Endpoint> endpoint = MakeAutoEndpoint(std::move(transports));
  GroupId group = -1;
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &group).ok());
  EXPECT_EQ(why, "no group");
  endpoint->CloseGroup(group);
}

// A port, a ring and their memory are not for ranks that share a host.
TEST(AutoEndpoint, OpensNothingForTcpWhereAllShareAHost) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
  };
  for (const bool one_host : {true, false}) {
    ptrdiff_t more_with_tcp = 0;
    for (const bool real_tcp : {false, true}) {
      Job job(one_host ? std::vector<int>{0} : std::vector<int>{0, 1});
      job.real_tcp = real_tcp;
      std::atomic<int> counted{0};
      job.Run([&](Endpoint*, GroupId, int rank) {
        if (rank == 0) more_with_tcp += real_tcp ? descriptors() : -descriptors();
        ++counted;
        while (counted < job.ranks()) std::this_thread::yield();
      });
    }
    EXPECT_EQ(more_with_tcp > 0, !one_host) << more_with_tcp;
  }
}

// A callback of one transport may post on the other, where that may be over at once.
TEST(AutoEndpoint, CallbacksOfTwoTransportsDoNotNest) {
  struct Chain : Completion {
    Chain() : Completion([](Completion* c) { static_cast<Chain*>(c)->Next(); }) {}
    void Next() {
      nested |= *in_callback;
      *in_callback = true;
      endpoint->ReleaseLease(lease);
      if (next != nullptr) {
        EXPECT_TRUE(endpoint->PostReceive(channel, peer, receive_buffer, next).ok());
      }
      over = true;
      *in_callback = false;
    }
    Endpoint* endpoint = nullptr;
    bool* in_callback = nullptr;
    Chain* next = nullptr;
    Channel channel;
    int peer = 0;
    ByteSpan receive_buffer;
    bool over = false;
    bool nested = false;
  };
  Job job({0, 0, 1});
  job.Run([&](Endpoint* endpoint, GroupId group, int rank) {
    const Channel channel{group, ChannelKind::kAll};
    RegisteredRegion memory;
    ASSERT_TRUE(RegisteredRegion::Create(endpoint->domain(), 0, 256, &memory).ok());
    if (rank != 0) {
      Operation sent[2];
      for (int i = 0; i < rank; ++i) {
        ASSERT_TRUE(endpoint->PostSend(channel, 0, {memory.memory().data, 8}, &sent[i]).ok());
      }
      for (int i = 0; i < rank; ++i) {
        while (!sent[i].over) endpoint->Progress();
      }
      return;
    }
    // Wait until the far segment is here, so that its receive is over at once.
    constexpr int kNear = 1;
    constexpr int kFar = 2;
    Operation first;
    ASSERT_TRUE(endpoint->PostReceive(channel, kFar, memory.memory(), &first).ok());
    while (!first.over) endpoint->Progress();
    bool in_callback = false;
    Chain near;
    Chain far;
    for (Chain* chain : {&near, &far}) {
      chain->endpoint = endpoint;
      chain->in_callback = &in_callback;
      chain->channel = channel;
      chain->receive_buffer = memory.memory();
    }
    near.next = &far;
    near.peer = kFar;
    ASSERT_TRUE(endpoint->PostReceive(channel, kNear, memory.memory(), &near).ok());
    while (!far.over) endpoint->Progress();
    EXPECT_FALSE(near.nested || far.nested);
  });
}

// Messages through shared memory do not wake a progress thread. It may read which transports are in
// use while the owner opens a group that changes it.
TEST(AutoEndpoint, AProgressThreadSleepsBrieflyWhereMemoryIsSharedToo) {
  for (const bool with_near : {false, true}) {
    Job job(with_near ? std::vector<int>{0, 0, 1} : std::vector<int>{0, 1});
    job.real_tcp = true;
    job.Run([&](Endpoint* endpoint, GroupId, int rank) {
      if (rank != 0) return;
      using Clock = std::chrono::steady_clock;
      auto shortest = Clock::duration::max();
      for (int i = 0; i < 20; ++i) {
        const auto start = Clock::now();
        endpoint->polling()->Await(20000);
        shortest = std::min<Clock::duration>(shortest, Clock::now() - start);
      }
      EXPECT_EQ(shortest < std::chrono::milliseconds(5), with_near);
    });
  }
}

TEST(AutoEndpoint, AProgressThreadSleepsWhileItsOwnerOpensGroups) {
  Job job({0, 0, 1});
  job.while_opening = [](Endpoint* endpoint, const std::atomic<bool>& open) {
    while (!open) endpoint->polling()->Await(10);
  };
  job.Run([](Endpoint*, GroupId, int) {});
}

// Callers that wait for memory nap when the endpoint would, not sooner.
TEST(AutoEndpoint, SaysWhenItWouldNap) {
  Job job({0, 0, 1});
  job.Run([](Endpoint* endpoint, GroupId, int rank) {
    if (rank == 2) return;  // alone on its host: it has one transport
    const bool is_crowded = std::thread::hardware_concurrency() < 2;
    EXPECT_EQ(endpoint->polling()->PollsBeforeSleep() == rules::kAutoPollsBeforeNap, !is_crowded);
  });
}

// They yield to each other: a long yield does not show that another program computes.
TEST(AutoEndpoint, RanksThatShareAProcessorGoOnYielding) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  std::atomic<bool> over{false};
  Job job({0, 0, 1});
  job.Run([&](Endpoint* endpoint, GroupId, int rank) {
    if (rank == 1) {
      while (!over) {  // it computes
      }
    }
    if (rank != 0) return;
    Polling* const polling = endpoint->polling();
    const uint64_t polls = polling->PollsBeforeSleep();
    for (uint64_t yields = 0; yields < 20; ++yields) {
      polling->Pause(rules::kSpins + yields);
      EXPECT_EQ(polling->PollsBeforeSleep(), polls);
    }
    over = true;
  });
  sched_setaffinity(0, sizeof(before), &before);
}

// A receive that is too short for its message: TCP sends its grant only after a long wait.
TEST(AutoEndpoint, ALongWaitReachesBothTransports) {
  Job job({0, 1, 1});
  job.real_tcp = true;
  job.Run([&](Endpoint* endpoint, GroupId group, int rank) {
    const Channel channel{group, ChannelKind::kAll};
    const auto wait_for = [&](const Operation& operation) {
      uint64_t idle_polls = 0;
      while (!operation.over) {
        if (!endpoint->Progress()) endpoint->polling()->Pause(idle_polls++);
      }
    };
    std::vector<std::byte> data(100000);
    for (const size_t bytes : {size_t{10}, data.size()}) {
      Operation operation;
      if (rank == 0) {
        ASSERT_TRUE(endpoint->PostSend(channel, 1, {data.data(), bytes}, &operation).ok());
        wait_for(operation);
      } else if (rank == 1) {
        ASSERT_TRUE(endpoint->PostReceive(channel, 0, {data.data(), 10}, &operation).ok());
        wait_for(operation);
        EXPECT_EQ(operation.status.ok(), bytes == 10);
      }
    }
  });
}

}  // namespace
}  // namespace brigade
