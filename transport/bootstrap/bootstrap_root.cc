#include "transport/bootstrap/bootstrap_root.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

// For all of a handshake. A rank whose handshake takes longer connects again.
constexpr std::chrono::seconds kHandshakeTime(10);
// Unauthenticated connections beyond the number of missing ranks.
constexpr size_t kSpareConnections = 64;
// Before a retry if the system has no descriptor for a connection.
constexpr std::chrono::milliseconds kRetryPause(20);
// Named in a message.
constexpr int kMostNamed = 8;
// To send all others a failure.
constexpr std::chrono::milliseconds kFailureTime(200);

}  // namespace

BootstrapRoot::BootstrapRoot(const JobIdentity& job, std::vector<StreamSocket> listeners,
                             Deadline deadline, const std::string& limit)
    : job_(job),
      listeners_(std::move(listeners)),
      deadline_(deadline),
      limit_(limit),
      ranks_(static_cast<size_t>(job.size)),
      peers_(static_cast<size_t>(job.size)),
      missing_(job.size - 1) {}

Status BootstrapRoot::Run(std::vector<StreamSocket>* ranks) {
  Status status = AwaitRanks();
  const Deadline sent = Clock::now() + kFailureTime;
  for (const StreamSocket& socket : ranks_) {
    if (socket.fd() < 0) continue;
    const BootstrapFrame begin;
    if (!status.ok()) {
      SendFailure(socket, status, sent);
    } else {
      // A rank that is lost now fails the first gather.
      (void)socket.Send(&begin, sizeof(begin), sent);
    }
  }
  if (status.ok()) *ranks = std::move(ranks_);
  return status;
}

Status BootstrapRoot::AwaitRanks() {
  while (missing_ > 0) {
    if (MillisecondsUntil(deadline_) == 0) return MissingRanks();
    std::vector<pollfd> polled;
    Deadline next = deadline_;
    for (const StreamSocket& listener : listeners_) polled.push_back({listener.fd(), POLLIN, 0});
    for (const StreamSocket& rank : ranks_) polled.push_back({rank.fd(), POLLIN, 0});  // -1: none
    for (const Unauthenticated& connection : unauthenticated_) {
      polled.push_back({connection.handshake.socket().fd(), POLLIN, 0});
      next = std::min(next, connection.deadline);
    }
    if (poll(polled.data(), polled.size(), MillisecondsUntil(next)) < 0) {
      if (errno == EINTR) continue;
      return Status(StatusCode::kUnavailable, std::string("rank 0: poll: ") + std::strerror(errno));
    }
    const pollfd* of_ranks = polled.data() + listeners_.size();
    for (int rank = 1; rank < job_.size; ++rank) {
      if (of_ranks[rank].revents == 0) continue;
      return Status(StatusCode::kPeerLost,
                    "rank " + std::to_string(rank) + " of " + std::to_string(job_.size) + " (" +
                        peers_[static_cast<size_t>(rank)] + ") has ended during the bootstrap");
    }
    const pollfd* polled_one = of_ranks + job_.size;
    for (auto one = unauthenticated_.begin(); one != unauthenticated_.end(); ++polled_one) {
      auto state = RootHandshake::State::kPending;
      if (polled_one->revents != 0) {
        state = one->handshake.Advance(&last_rejection_);
      } else if (MillisecondsUntil(one->deadline) == 0) {
        // A rank that is closed without a reason connects again.
        last_rejection_ = one->handshake.peer() + ": its handshake has taken too long";
        state = RootHandshake::State::kRejected;
      }
      if (state == RootHandshake::State::kAuthenticated) {
        BRIGADE_RETURN_IF_ERROR(AcceptRank(&one->handshake));
      }
      one = state == RootHandshake::State::kPending ? std::next(one) : unauthenticated_.erase(one);
    }
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[i].revents != 0) AcceptConnection(listeners_[i]);
    }
  }
  return Status();
}

void BootstrapRoot::AcceptConnection(const StreamSocket& listener) {
  SystemAddress peer;
  peer.bytes = sizeof(peer.address);
  StreamSocket socket(accept4(listener.fd(), reinterpret_cast<sockaddr*>(&peer.address),
                              &peer.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.fd() < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    // The connection waits in the system until a descriptor or memory is free.
    last_rejection_ = std::string("accept: ") + std::strerror(errno);
    std::this_thread::sleep_for(kRetryPause);
    return;
  }
  const int on = 1;  // the data of a gather go in a write of their own, behind their frame
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (unauthenticated_.size() >= static_cast<size_t>(missing_) + kSpareConnections) {
    // A connection without a join request does not displace a rank that has sent one.
    const auto silent =
        std::find_if(unauthenticated_.begin(), unauthenticated_.end(),
                     [](const Unauthenticated& one) { return !one.handshake.has_request(); });
    unauthenticated_.erase(silent != unauthenticated_.end() ? silent : unauthenticated_.begin());
  }
  unauthenticated_.push_back(
      {RootHandshake(job_, std::move(socket), peer.ToString()), Clock::now() + kHandshakeTime});
}

Status BootstrapRoot::AcceptRank(RootHandshake* handshake) {
  const JoinRequest& request = handshake->request();
  const auto fail = [&](const std::string& what) {
    const Status failure(StatusCode::kMismatch, what);
    SendFailure(handshake->socket(), failure, Clock::now() + kFailureTime);
    return failure;
  };
  const std::string name = "rank " + std::to_string(request.rank);
  const std::string of = " of " + std::to_string(job_.size);
  if (request.size != job_.size) {
    return fail("the sizes of the job differ: rank 0 has " + std::to_string(job_.size) + ", " +
                name + " (" + handshake->peer() + ") has " + std::to_string(request.size));
  }
  if (request.rank < 1 || request.rank >= job_.size) {
    return fail(name + of + " (" + handshake->peer() +
                ") has joined rank 0; number the other ranks from 1 to " +
                std::to_string(job_.size - 1));
  }
  const auto rank = static_cast<size_t>(request.rank);
  if (ranks_[rank].fd() >= 0) {
    return fail(name + of + " has joined twice: from " + peers_[rank] + " and from " +
                handshake->peer() + "; give each process a rank of its own");
  }
  const BootstrapFrame accepted;
  // If the rank is lost now, the next poll reports it.
  (void)handshake->socket().Send(&accepted, sizeof(accepted), Clock::now());
  ranks_[rank] = handshake->TakeSocket();
  peers_[rank] = handshake->peer();
  const Deadline gives_up = Clock::now() + std::chrono::milliseconds(request.left_ms);
  if (gives_up < deadline_) {
    deadline_ = gives_up;
    first_to_give_up_ = request.rank;
  }
  --missing_;
  return Status();
}

Status BootstrapRoot::MissingRanks() const {
  std::string names;
  int named = 0;
  for (int rank = 1; rank < job_.size; ++rank) {
    if (ranks_[static_cast<size_t>(rank)].fd() >= 0) continue;
    if (++named <= kMostNamed) names += (named == 1 ? "" : ", ") + std::to_string(rank);
  }
  if (named > kMostNamed) names += " and " + std::to_string(named - kMostNamed) + " more";
  std::string text = (named == 1 ? "rank " : "ranks ") + names + " of " +
                     std::to_string(job_.size) + (named == 1 ? " has" : " have") +
                     " not joined within ";
  if (first_to_give_up_ > 0) {
    text += "the time limit of rank " + std::to_string(first_to_give_up_) +
            ", which ended before the " + limit_ + " of rank 0";
  } else {
    text += limit_;
  }
  if (!last_rejection_.empty()) text += "; the last rejected connection: " + last_rejection_;
  return Status(StatusCode::kTimedOut, text);
}

}  // namespace brigade
