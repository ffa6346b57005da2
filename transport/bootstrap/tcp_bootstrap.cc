#include "transport/bootstrap/tcp_bootstrap.h"

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "transport/bootstrap/bootstrap_root.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/join_root.h"
#include "transport/bootstrap/rank_check.h"
#include "transport/bootstrap/star_bootstrap.h"
#include "transport/bootstrap/stream_socket.h"
#include "transport/host/descriptors.h"

namespace brigade {
namespace {

// A deadline beyond it would not fit the clock.
constexpr double kLongestLimit = 1e9;

std::string SecondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", seconds);
  return text;
}

Status CheckOptions(const TcpBootstrapOptions& options) {
  if (options.job.size() > kMostJobBytes) {
    return Status(StatusCode::kInvalidArgument,
                  "the name of a job has " + std::to_string(options.job.size()) +
                      " bytes: it may have up to " + std::to_string(kMostJobBytes));
  }
  if (!(options.time_limit_seconds > 0 && options.time_limit_seconds <= kLongestLimit)) {
    return Status(StatusCode::kInvalidArgument,
                  "a time limit of " + SecondsText(options.time_limit_seconds) +
                      ": it must be above 0 and at most " + SecondsText(kLongestLimit));
  }
  return Status();
}

}  // namespace

Status TcpBootstrap::Create(const std::string& address, int rank, int size,
                            const TcpBootstrapOptions& options,
                            std::unique_ptr<Bootstrap>* bootstrap) {
  std::string host;
  std::string port;
  BRIGADE_RETURN_IF_ERROR(CheckRank(rank, size));
  BRIGADE_RETURN_IF_ERROR(CheckOptions(options));
  BRIGADE_RETURN_IF_ERROR(SplitAddress(address, &host, &port));
  const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(options.time_limit_seconds));
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  const std::string limit_text = SecondsText(options.time_limit_seconds);
  JobIdentity job{options.job, size, AuthKey()};
  std::vector<StreamSocket> connections(1);
  if (size > 1) {
    BRIGADE_RETURN_IF_ERROR(MakeKey(options.secret, &job.key));
    if (rank == 0) {
      RaiseDescriptorLimit();  // rank 0 has a connection to each other rank
      std::vector<StreamSocket> listeners;
      BRIGADE_RETURN_IF_ERROR(ListenAt(address, &listeners).WithContext("rank 0"));
      BootstrapRoot root(job, std::move(listeners), deadline, limit_text);
      BRIGADE_RETURN_IF_ERROR(root.Run(&connections));
    } else {
      BRIGADE_RETURN_IF_ERROR(
          JoinRoot(address, job, rank, deadline, limit_text, &connections.front()));
    }
  }
  *bootstrap = std::make_unique<StarBootstrap>(rank, size, std::move(connections), limit);
  return Status();
}

}  // namespace brigade
