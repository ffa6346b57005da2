// The ranks of a job as threads that meet by TcpBootstrap: what its tests share.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_JOB_FIXTURE_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_JOB_FIXTURE_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/bootstrap/stream_socket.h"
#include "transport/bootstrap/tcp_bootstrap.h"
#include "transport/host/network_interface.h"

namespace brigade {

// Far beyond a test that does not hang.
inline constexpr double kLong = 60;
// Of tests that wait for the end of the limit: enough for what comes before, beside a load, too.
inline constexpr double kShort = 5;

inline Deadline Later() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

// An address of this host at which no process listens.
inline std::string FreeAddress(const std::string& host = "127.0.0.1") {
  StreamSocket probe(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int family = AF_INET6;
  if (probe.fd() < 0) {
    probe = StreamSocket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    family = AF_INET;
  }
  SystemAddress address;
  address.address.ss_family = static_cast<sa_family_t>(family);
  address.bytes = sizeof(address.address);
  EXPECT_EQ(bind(probe.fd(), address.get(), address.bytes), 0);
  getsockname(probe.fd(), reinterpret_cast<sockaddr*>(&address.address), &address.bytes);
  return host + ":" + std::to_string(SocketAddress::From(address.get()).port);
}

inline void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " has not: " << part;
}

inline TcpBootstrapOptions Options(double limit = kLong) {
  TcpBootstrapOptions options;
  options.secret = "a secret of any length, longer than the key that is made of it";
  options.job = "job 1";
  options.time_limit_seconds = limit;
  return options;
}

// The arguments of a rank, and the time after which it calls.
struct RankArguments {
  std::string address;
  int rank = 0;
  int size = 0;
  TcpBootstrapOptions options;
  int delay_ms = 0;
};

inline std::vector<RankArguments> Job(int size, const std::string& address,
                                      const TcpBootstrapOptions& options) {
  std::vector<RankArguments> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back({address, rank, size, options});
  return ranks;
}

// Runs each rank on a thread, and returns its result.
inline std::vector<Status> RunJob(const std::vector<RankArguments>& ranks,
                                  const std::function<Status(Bootstrap*)>& body = nullptr) {
  std::vector<Status> results(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      const RankArguments& rank = ranks[i];
      std::this_thread::sleep_for(std::chrono::milliseconds(rank.delay_ms));
      std::unique_ptr<Bootstrap> bootstrap;
      results[i] =
          TcpBootstrap::Create(rank.address, rank.rank, rank.size, rank.options, &bootstrap);
      if (results[i].ok() && body != nullptr) results[i] = body(bootstrap.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

inline void ExpectOk(const std::vector<Status>& results) {
  for (const Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
}

// Gathers of several lengths, and a search for a difference.
inline Status GatherAll(Bootstrap* bootstrap) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{3} << 20, size_t{5}}) {
    const std::string mine(bytes, static_cast<char>('a' + bootstrap->rank()));
    std::string all(bytes * static_cast<size_t>(bootstrap->size()), '-');
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(mine.data(), bytes, all.data()));
    for (int rank = 0; rank < bootstrap->size(); ++rank) {
      EXPECT_EQ(all.substr(static_cast<size_t>(rank) * bytes, bytes),
                std::string(bytes, static_cast<char>('a' + rank)));
    }
  }
  const int mine = bootstrap->rank() < 2 ? 5 : 6;
  int rank = -1, first = 0, other = 0;
  BRIGADE_RETURN_IF_ERROR(bootstrap->FindDifference(&mine, sizeof(mine), &rank, &first, &other));
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(first, 5);
  EXPECT_EQ(other, 6);
  return Status();
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_JOB_FIXTURE_H_
