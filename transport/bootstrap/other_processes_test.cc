// Other processes and the bootstrap of a job: connections to rank 0 that are not of the job, and
// programs at the address of rank 0.

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/job_fixture.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {
namespace {

// Connects to `address` from outside of the job, once a process listens there.
StreamSocket Connect(const std::string& address) {
  StreamSocket socket;
  std::vector<SystemAddress> found;
  EXPECT_TRUE(Resolve(address, Later(), &found).ok());
  while (!ConnectTo(found.front(), Later(), &socket).ok()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return socket;
}

TEST(OtherProcesses, OtherProcessesDoNoHarm) {
  const std::string address = FreeAddress();
  auto ranks = Job(3, address, Options());
  ranks[1].delay_ms = ranks[2].delay_ms = 700;
  JobIdentity job{"job 1", 3, AuthKey()};
  ASSERT_TRUE(MakeKey("guessed", &job.key).ok());
  std::thread others([&] {
    std::vector<StreamSocket> silent;
    for (int i = 0; i < 100; ++i) silent.push_back(Connect(address));
    const std::string http = "GET / HTTP/1.1\r\n" + std::string(200, 'x');
    const StreamSocket garbage = Connect(address);
    (void)garbage.Send(http.data(), http.size(), Later());
    // A join request that ends too early, and a whole one with a proof under another key.
    JoinRequest request;
    ASSERT_TRUE(MakeJoinRequest(job, 1, 60000, &request).ok());
    (void)Connect(address).Send(&request, sizeof(request) / 2, Later());
    const StreamSocket forger = Connect(address);
    ASSERT_TRUE(forger.Send(&request, sizeof(request), Later()).ok());
    BootstrapFrame frame;
    Challenge challenge;
    ASSERT_TRUE(ReceiveFrame(forger, Later(), &frame).ok());
    ASSERT_TRUE(forger.Receive(&challenge, sizeof(challenge), Later()).ok());
    EXPECT_FALSE(IsProof(job.key, Prover::kRankZero, request, challenge.nonce, challenge.proof));
    const Proof proof = Prove(job.key, Prover::kOtherRank, request, challenge.nonce);
    ASSERT_TRUE(forger.Send(proof.data(), proof.size(), Later()).ok());
    EXPECT_EQ(ReceiveFrame(forger, Later(), &frame).message(), kOtherSecret);
    // The proof of rank 0 is not a proof of another rank.
    const StreamSocket replayer = Connect(address);
    ASSERT_TRUE(replayer.Send(&request, sizeof(request), Later()).ok());
    ASSERT_TRUE(ReceiveFrame(replayer, Later(), &frame).ok());
    ASSERT_TRUE(replayer.Receive(&challenge, sizeof(challenge), Later()).ok());
    ASSERT_TRUE(replayer.Send(&challenge.proof, sizeof(challenge.proof), Later()).ok());
    EXPECT_EQ(ReceiveFrame(replayer, Later(), &frame).message(), kOtherSecret);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  });
  ExpectOk(RunJob(ranks, GatherAll));
  others.join();
}

// Sends a join request to rank 0 from outside of the job, and proves the secret.
void Join(const std::string& address, const JoinRequest& request, const AuthKey& key) {
  const StreamSocket socket = Connect(address);
  ASSERT_TRUE(socket.Send(&request, sizeof(request), Later()).ok());
  BootstrapFrame frame;
  Challenge challenge;
  ASSERT_TRUE(ReceiveFrame(socket, Later(), &frame).ok());
  ASSERT_TRUE(socket.Receive(&challenge, sizeof(challenge), Later()).ok());
  const Proof proof = Prove(key, Prover::kOtherRank, request, challenge.nonce);
  ASSERT_TRUE(socket.Send(proof.data(), proof.size(), Later()).ok());
  EXPECT_EQ(ReceiveFrame(socket, Later(), &frame).code(), StatusCode::kMismatch);
}

TEST(OtherProcesses, NamesARankOutsideOfTheJob) {
  for (const int number : {INT_MIN, -1, 0, 3, INT_MAX}) {
    const std::string address = FreeAddress();
    const RankArguments rank_zero = Job(3, address, Options()).front();
    std::thread other([&] {
      JobIdentity job{rank_zero.options.job, 3, AuthKey()};
      ASSERT_TRUE(MakeKey(rank_zero.options.secret, &job.key).ok());
      JoinRequest request;
      ASSERT_TRUE(MakeJoinRequest(job, number, 60000, &request).ok());
      Join(address, request, job.key);
    });
    const Status result = RunJob({rank_zero}).front();
    other.join();
    EXPECT_EQ(result.code(), StatusCode::kMismatch);
    ExpectHas(result.message(), "rank " + std::to_string(number) + " of 3 (127.0.0.1:");
    ExpectHas(result.message(), ") has joined rank 0; number the other ranks from 1 to 2");
  }
}

// Accepts one connection at `address`, and no more.
StreamSocket AcceptOne(const std::string& address) {
  std::vector<StreamSocket> listeners;
  EXPECT_TRUE(ListenAt(address, &listeners).ok());
  StreamSocket one;
  while (one.fd() < 0) {
    one = StreamSocket(
        accept4(listeners.front().fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return one;
}

// Rank 0 may close the connection of a rank whose proof is on the way, to make room for another.
TEST(OtherProcesses, ARankThatIsNotAcceptedConnectsAgain) {
  const std::string address = FreeAddress();
  const auto ranks = Job(2, address, Options());
  std::thread rank_zero([&] {
    JobIdentity job{ranks[0].options.job, 2, AuthKey()};
    ASSERT_TRUE(MakeKey(ranks[0].options.secret, &job.key).ok());
    {
      const StreamSocket evicted = AcceptOne(address);
      JoinRequest request;
      ASSERT_TRUE(evicted.Receive(&request, sizeof(request), Later()).ok());
      BootstrapFrame frame;
      frame.bytes = sizeof(Challenge);
      Challenge challenge;
      ASSERT_TRUE(MakeRandom(&challenge.nonce).ok());
      challenge.proof = Prove(job.key, Prover::kRankZero, request, challenge.nonce);
      ASSERT_TRUE(evicted.Send(&frame, sizeof(frame), Later()).ok());
      ASSERT_TRUE(evicted.Send(&challenge, sizeof(challenge), Later()).ok());
      Proof proof;
      ASSERT_TRUE(evicted.Receive(proof.data(), proof.size(), Later()).ok());
    }
    ExpectOk(RunJob({ranks[0]}, [](Bootstrap* bootstrap) {
      char all[2];
      return bootstrap->AllGather("", 1, all);
    }));
  });
  ExpectOk(RunJob({ranks[1]}, [](Bootstrap* bootstrap) {
    char all[2];
    return bootstrap->AllGather("", 1, all);
  }));
  rank_zero.join();
}

TEST(OtherProcesses, AnotherProgramAtOneAddressOfTheHostRejectsNoRank) {
  const std::string address = FreeAddress("localhost");
  std::vector<SystemAddress> found;
  ASSERT_TRUE(Resolve(address, Later(), &found).ok());
  if (found.size() < 2) GTEST_SKIP() << "localhost has one address";
  auto ranks = Job(2, address, Options());
  ranks[0].address = found.back().ToString();
  std::thread other_program([&] {
    SendFailure(AcceptOne(found.front().ToString()), Status(StatusCode::kMismatch, "no"), Later());
  });
  ExpectOk(RunJob(ranks, [](Bootstrap* bootstrap) {
    char all[2];
    return bootstrap->AllGather("", 1, all);
  }));
  other_program.join();
}

TEST(OtherProcesses, SilentConnectionsDoNotDisplaceAJoinRequest) {
  const std::string address = FreeAddress();
  const RankArguments rank_zero = Job(2, address, Options()).front();
  std::thread other([&] {
    JobIdentity job{rank_zero.options.job, 2, AuthKey()};
    ASSERT_TRUE(MakeKey(rank_zero.options.secret, &job.key).ok());
    const StreamSocket rank = Connect(address);
    JoinRequest request;
    ASSERT_TRUE(MakeJoinRequest(job, 1, 60000, &request).ok());
    ASSERT_TRUE(rank.Send(&request, sizeof(request), Later()).ok());
    BootstrapFrame frame;
    Challenge challenge;
    ASSERT_TRUE(ReceiveFrame(rank, Later(), &frame).ok());
    ASSERT_TRUE(rank.Receive(&challenge, sizeof(challenge), Later()).ok());
    std::vector<StreamSocket> silent;
    for (int i = 0; i < 100; ++i) silent.push_back(Connect(address));
    char none = 0;
    EXPECT_EQ(silent.front().Receive(&none, 1, Later()).code(), StatusCode::kPeerLost);
    const Proof proof = Prove(job.key, Prover::kOtherRank, request, challenge.nonce);
    EXPECT_TRUE(rank.Send(proof.data(), proof.size(), Later()).ok());
    EXPECT_TRUE(ReceiveFrame(rank, Later(), &frame).ok());  // accepted
    EXPECT_TRUE(ReceiveFrame(rank, Later(), &frame).ok());  // all have joined
  });
  ExpectOk(RunJob({rank_zero}));
  other.join();
}

TEST(OtherProcesses, AnotherProgramAtTheAddressOfRankZeroIsNotRankZero) {
  for (const char* const answer : {"", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    const std::string address = FreeAddress();
    std::vector<StreamSocket> listeners;
    ASSERT_TRUE(ListenAt(address, &listeners).ok());
    std::atomic<bool> over{false};
    std::thread other_program([&] {
      std::vector<StreamSocket> held;
      while (!over) {
        StreamSocket one(accept4(listeners.front().fd(), nullptr, nullptr, SOCK_CLOEXEC));
        if (one.fd() < 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          continue;
        }
        (void)one.Send(answer, std::string(answer).size(), Later());
        held.push_back(std::move(one));
      }
    });
    const Status result = RunJob({{address, 1, 2, Options(kShort)}}).front();
    over = true;
    other_program.join();
    EXPECT_EQ(result.code(), StatusCode::kTimedOut);
    ExpectHas(result.message(),
              "rank 1 of 2 has not reached rank 0 at " + address + " within 5 s: " +
                  (*answer == 0 ? "the time limit has passed" : "it is not a rank of Brigade"));
  }
}

}  // namespace
}  // namespace brigade
