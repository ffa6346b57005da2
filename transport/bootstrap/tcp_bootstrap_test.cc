#include "transport/bootstrap/tcp_bootstrap.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/bootstrap/job_fixture.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {
namespace {

TEST(TcpBootstrap, Gathers) {
  for (const char* const host : {"127.0.0.1", "localhost"}) {
    ExpectOk(RunJob(Job(5, FreeAddress(host), Options()), GatherAll));
  }
}

TEST(TcpBootstrap, GathersOverIpv6) {
  StreamSocket probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SystemAddress loopback;
  std::vector<SystemAddress> found;
  if (probe.fd() < 0 || !Resolve("[::1]:1", Later(), &found).ok()) GTEST_SKIP() << "no IPv6 here";
  loopback = found.front();
  reinterpret_cast<sockaddr_in6*>(&loopback.address)->sin6_port = 0;
  if (bind(probe.fd(), loopback.get(), loopback.bytes) != 0) GTEST_SKIP() << "no IPv6 here";
  ExpectOk(RunJob(Job(3, FreeAddress("[::1]"), Options()), GatherAll));
}

// The name of this host may mean 127.0.1.1 on itself.
TEST(TcpBootstrap, GathersAtAName) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  std::vector<SystemAddress> found;
  if (!Resolve(std::string(name) + ":1", Later(), &found).ok())
    GTEST_SKIP() << name << " is no known host";
  ExpectOk(RunJob(Job(3, FreeAddress(name), Options()), GatherAll));
}

// As in an /etc/hosts that is written by hand.
TEST(TcpBootstrap, ListensOnceAtAnAddressThatANameHasTwice) {
  constexpr int kNotPermitted = 77;
  const std::string hosts = testing::TempDir() + "/hosts_with_a_name_twice";
  std::ofstream(hosts) << "127.0.0.1 localhost\n127.0.0.1 node1 localhost\n";
  const std::string address = FreeAddress("localhost");
  const pid_t child = fork();
  if (child == 0) {
    if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
      _exit(kNotPermitted);
    }
    std::vector<StreamSocket> sockets;
    _exit(ListenAt(address, &sockets).ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "no mount namespace can be had";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(TcpBootstrap, OneRankNeedsNoAddress) {
  ExpectOk(RunJob({{"nowhere.invalid:1", 0, 1, Options()}}, [](Bootstrap* bootstrap) {
    char all = 0;
    EXPECT_TRUE(bootstrap->AllGather("x", 1, &all).ok());
    EXPECT_EQ(all, 'x');
    return Status();
  }));
}

TEST(TcpBootstrap, WorksWithoutASecretOrAName) {
  ExpectOk(RunJob(Job(3, FreeAddress(), TcpBootstrapOptions()), GatherAll));
}

TEST(TcpBootstrap, RankZeroMayStartLast) {
  auto ranks = Job(4, FreeAddress(), Options());
  ranks[0].delay_ms = 300;
  ExpectOk(RunJob(ranks, GatherAll));
}

TEST(TcpBootstrap, NamesAMissingRank) {
  auto ranks = Job(4, FreeAddress(), Options());
  ranks[0].options.time_limit_seconds = kShort;
  ranks.pop_back();
  for (const Status& result : RunJob(ranks)) {
    EXPECT_EQ(result.code(), StatusCode::kTimedOut);
    ExpectHas(result.message(), "rank 3 of 4 has not joined within ");
  }
}

// A rank whose limit ends before that of rank 0 gets the reason, too.
TEST(TcpBootstrap, TheShortestLimitHolds) {
  auto ranks = Job(20, FreeAddress(), Options(kLong));
  ranks.resize(2);
  ranks[1].options.time_limit_seconds = kShort;
  for (const Status& result : RunJob(ranks)) {
    EXPECT_EQ(
        result.message(),
        "ranks 2, 3, 4, 5, 6, 7, 8, 9 and 10 more of 20 have not joined within the time limit "
        "of rank 1, which ended before the 60 s of rank 0");
  }
}

TEST(TcpBootstrap, TheLimitOfRankZeroHolds) {
  auto ranks = Job(3, FreeAddress(), Options(kLong));
  ranks.resize(2);
  ranks[0].options.time_limit_seconds = kShort;
  for (const Status& result : RunJob(ranks)) {
    EXPECT_EQ(result.message(), "rank 2 of 3 has not joined within 5 s");
  }
}

TEST(TcpBootstrap, NamesAMissingRankZero) {
  const std::string address = FreeAddress();
  auto ranks = Job(2, address, Options(kShort));
  ranks.erase(ranks.begin());
  const Status result = RunJob(ranks).front();
  EXPECT_EQ(result.code(), StatusCode::kTimedOut);
  ExpectHas(result.message(), "rank 1 of 2 has not reached rank 0 at " + address +
                                  " within 5 s: connect: Connection refused");
}

TEST(TcpBootstrap, NamesARankThatJoinsTwice) {
  auto ranks = Job(3, FreeAddress(), Options(kShort));
  ranks[2].rank = 1;
  for (const Status& result : RunJob(ranks)) {
    EXPECT_EQ(result.code(), StatusCode::kMismatch) << result.ToString();
    ExpectHas(result.message(), "rank 1 of 3 has joined twice: from 127.0.0.1:");
  }
}

TEST(TcpBootstrap, NamesASizeThatDiffers) {
  auto ranks = Job(4, FreeAddress(), Options(kShort));
  ranks[2].size = 5;
  ranks[2].delay_ms = 300;  // the others get the reason if they have joined before
  ranks.pop_back();
  for (const Status& result : RunJob(ranks)) {
    const bool is_late = result.code() == StatusCode::kTimedOut;
    ExpectHas(result.message(), is_late ? "rank 1 of 4 has not reached rank 0"
                                        : "the sizes of the job differ: rank 0 has 4, rank 2 (");
    ExpectHas(result.message(), is_late ? "" : ") has 5");
  }
}

// The wrong rank fails at once, the others at the limit of rank 0.
void ExpectRejection(const TcpBootstrapOptions& other, const std::string& reason,
                     const std::string& reason_of_others) {
  const std::string address = FreeAddress();
  auto ranks = Job(3, address, Options());
  ranks[0].options.time_limit_seconds = kShort;
  ranks[2].options = other;
  const std::vector<Status> results = RunJob(ranks);
  EXPECT_EQ(results[2].code(), StatusCode::kMismatch);
  EXPECT_EQ(results[2].message(), "rank 2 of 3, connected to rank 0 at " + address + ": " + reason);
  for (const int rank : {0, 1}) {
    EXPECT_EQ(results[rank].code(), StatusCode::kTimedOut);
    ExpectHas(results[rank].message(), "; the last rejected connection: 127.0.0.1:");
    ExpectHas(results[rank].message(), "rank 2 of 3 has not joined within ");
    ExpectHas(results[rank].message(), ": " + reason_of_others);
  }
}

TEST(TcpBootstrap, RejectsAnotherSecret) {
  auto other = Options();
  other.secret += "!";
  const std::string reason = "the secret is not that of rank 0; give all ranks the same secret";
  const std::string address = FreeAddress();
  auto ranks = Job(3, address, Options());
  ranks[0].options.time_limit_seconds = kShort;
  ranks[2].options = other;
  const std::vector<Status> results = RunJob(ranks);
  EXPECT_EQ(results[2].ToString(),
            "mismatch: rank 2 of 3, connected to rank 0 at " + address + ": " + reason);
  for (const int rank : {0, 1}) {
    ExpectHas(results[rank].message(), "rank 2 of 3 has not joined within ");
    ExpectHas(results[rank].message(), ", as rank 2 and without a proof: ");
  }
}

TEST(TcpBootstrap, RejectsARankOfAnotherJob) {
  auto other = Options();
  other.job = "job\n\x1b[2J2";
  const std::string reason =
      "job 'job??[2J2' is not the job of rank 0; give each job an address of its own";
  ExpectRejection(other, reason, reason + "; rank 0 has job 'job 1'");
}

TEST(TcpBootstrap, OnlyOneJobMayUseAnAddress) {
  const std::string address = FreeAddress();
  auto ranks = Job(3, address, Options());
  ranks[2].delay_ms = 3000;
  auto other = Options();
  other.job = "job 2";
  ranks.push_back({address, 0, 2, other, 1500});
  const std::vector<Status> results = RunJob(ranks);
  ExpectOk({results.begin(), results.begin() + 3});
  EXPECT_EQ(results[3].code(), StatusCode::kUnavailable);
  EXPECT_EQ(results[3].message(), "rank 0: cannot listen at " + address +
                                      ": bind: Address already in use; another job or program "
                                      "uses it: choose another port");
}

// Runs one rank in a process that is killed `after_ms` later, beside those on threads.
std::vector<Status> RunAndKill(const RankArguments& victim, int after_ms,
                               const std::vector<RankArguments>& ranks) {
  const pid_t child = fork();
  if (child == 0) {
    std::unique_ptr<Bootstrap> bootstrap;
    (void)TcpBootstrap::Create(victim.address, victim.rank, victim.size, victim.options,
                               &bootstrap);
    pause();
  }
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
    kill(child, SIGKILL);
  });
  std::vector<Status> results = RunJob(ranks, [](Bootstrap* bootstrap) {
    std::vector<char> all(static_cast<size_t>(bootstrap->size()));
    return bootstrap->AllGather("", 1, all.data());
  });
  killer.join();
  waitpid(child, nullptr, 0);
  return results;
}

TEST(TcpBootstrap, NamesARankThatIsKilledBeforeAllHaveJoined) {
  auto ranks = Job(4, FreeAddress(), Options());
  const RankArguments victim = ranks[1];
  ranks.pop_back();
  ranks.erase(ranks.begin() + 1);
  for (const Status& result : RunAndKill(victim, 3000, ranks)) {
    EXPECT_EQ(result.code(), StatusCode::kPeerLost) << result.ToString();
    ExpectHas(result.message(), "rank 1 of 4 (127.0.0.1:");
    ExpectHas(result.message(), ") has ended during the bootstrap");
  }
}

TEST(TcpBootstrap, NamesARankThatIsKilledBeforeAGather) {
  auto ranks = Job(4, FreeAddress(), Options());
  const RankArguments victim = ranks[2];
  ranks.erase(ranks.begin() + 2);
  for (const Status& result : RunAndKill(victim, 3000, ranks)) {
    EXPECT_EQ(result.code(), StatusCode::kPeerLost) << result.ToString();
    ExpectHas(result.message(), "rank 2 of 4 has ended while a group was made: ");
  }
}

TEST(TcpBootstrap, NamesARankZeroThatIsKilled) {
  const std::string address = FreeAddress();
  auto ranks = Job(3, address, Options(kLong));
  const RankArguments victim = ranks[0];
  ranks.pop_back();
  ranks.erase(ranks.begin());
  const Status early = RunAndKill(victim, 3000, ranks).front();
  EXPECT_EQ(early.code(), StatusCode::kPeerLost);
  ExpectHas(early.message(),
            "rank 1 of 3: rank 0 at " + address + " has ended during the bootstrap: ");
  // The same in a gather, which rank 0 never calls.
  ranks.push_back(Job(3, address, Options()).back());
  for (const Status& result : RunAndKill(victim, 3000, ranks)) {
    EXPECT_EQ(result.code(), StatusCode::kPeerLost);
    ExpectHas(result.message(), "rank 0 of 3 has ended while a group was made: ");
  }
}

TEST(TcpBootstrap, NamesARankThatDoesNotCallAGather) {
  std::vector<Status> results =
      RunJob(Job(3, FreeAddress(), Options(kShort)), [](Bootstrap* bootstrap) {
        char all[3];
        if (bootstrap->rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(7));
        return bootstrap->AllGather("", 1, all);
      });
  for (const Status& result : results) {
    EXPECT_EQ(result.code(), StatusCode::kTimedOut);
    EXPECT_EQ(result.message(),
              "rank 1 of 3 has not joined in making a group within the time limit "
              "(brigade_bootstrap_options::timeout_seconds)");
  }
}

TEST(TcpBootstrap, NamesGathersThatDiffer) {
  for (const Status& result : RunJob(Job(3, FreeAddress(), Options()), [](Bootstrap* bootstrap) {
         char all[6];
         const Status differs = bootstrap->AllGather("ab", bootstrap->rank() == 2 ? 2 : 1, all);
         EXPECT_EQ(bootstrap->AllGather("", 1, all).message(), differs.message());
         return differs;
       })) {
    EXPECT_EQ(result.ToString(),
              "mismatch: the ranks do not make the same groups in the same order: rank 0 sends 1 "
              "bytes, rank 2 sends 2");
  }
}

TEST(TcpBootstrap, AProgramThatIsStartedGetsNoSocket) {
  const auto closes_all = [](Bootstrap*) {
    for (int fd = 3; fd < 200; ++fd) {
      int type = 0;
      socklen_t bytes = sizeof(type);
      if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0) continue;  // no socket
      EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
    }
    return Status();
  };
  ExpectOk(RunJob(Job(3, FreeAddress(), Options()), closes_all));
}

// A short write behind another one would wait for an acknowledgement, which comes 40 ms later.
TEST(TcpBootstrap, NoConnectionHoldsShortWritesBack) {
  std::set<int> inherited;  // from the program that started the test
  for (int fd = 3; fd < 200; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) inherited.insert(fd);
  }
  const auto send_at_once = [&](Bootstrap* bootstrap) {
    BRIGADE_RETURN_IF_ERROR(GatherAll(bootstrap));  // no rank listens any more
    for (int fd = 3; fd < 200; ++fd) {
      int on = 0;
      socklen_t bytes = sizeof(on);
      if (inherited.count(fd) != 0 || getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &bytes) != 0) {
        continue;  // no connection of a rank
      }
      EXPECT_NE(on, 0) << fd;
    }
    return Status();
  };
  ExpectOk(RunJob(Job(3, FreeAddress(), Options()), send_at_once));
}

// Rank 0 takes the limit that the system allows.
TEST(TcpBootstrap, NeedsNoLimitThatIsRaisedByHand) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 40;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  ExpectOk(RunJob(Job(40, FreeAddress(), Options())));
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(TcpBootstrap, RefusesWrongArguments) {
  const auto message = [](const std::string& address, int rank, int size,
                          const TcpBootstrapOptions& options) {
    std::unique_ptr<Bootstrap> bootstrap;
    const Status status = TcpBootstrap::Create(address, rank, size, options, &bootstrap);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    return status.message();
  };
  for (const char* const address : {"", "node1", "node1:", ":4000", "node1:0", "node1:65536",
                                    "::1:4000", "[]:1", "node1:4000x"}) {
    ExpectHas(message(address, 0, 2, Options()),
              "address '" + std::string(address) + "': must be HOST:PORT");
  }
  const std::string good = "127.0.0.1:4000";
  ExpectHas(message(good, 2, 2, Options()), "rank 2 of 2");
  ExpectHas(message(good, -1, 2, Options()), "rank -1 of 2");
  ExpectHas(message(good, 0, 0, Options()), "rank 0 of 0");
  ExpectHas(message(good, 0, 2, Options(0)), "a time limit of 0 s");
  auto options = Options();
  options.job = std::string(64, 'j');
  ExpectHas(message(good, 0, 2, options), "has 64 bytes: it may have up to 63");
}

}  // namespace
}  // namespace brigade
