#include "transport/bootstrap/star_bootstrap.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "transport/bootstrap/handshake.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

// Other ranks wait so many times as long as rank 0, which sends them the reason.
constexpr int kLimitFactor = 2;
// To send all others a failure.
constexpr std::chrono::milliseconds kFailureTime(200);

// One rank's part of a gather, as rank 0 receives it.
struct Part {
  BootstrapFrame frame;
  size_t received = 0;  // of the frame and its data
};

}  // namespace

StarBootstrap::StarBootstrap(int rank, int size, std::vector<StreamSocket> connections,
                             std::chrono::nanoseconds limit)
    : rank_(rank), size_(size), connections_(std::move(connections)), limit_(limit) {}

Status StarBootstrap::AllGather(const void* mine, size_t bytes, void* all) {
  if (failure_.ok()) {
    failure_ = rank_ == 0 ? GatherAsRoot(mine, bytes, all) : GatherThroughRoot(mine, bytes, all);
  }
  return failure_;
}

Status StarBootstrap::GatherAsRoot(const void* mine, size_t bytes, void* all) {
  const Deadline deadline = Clock::now() + limit_;
  if (bytes > 0) std::memcpy(all, mine, bytes);
  Status status = Collect(bytes, static_cast<char*>(all), deadline);
  BootstrapFrame frame;
  frame.bytes = bytes * static_cast<size_t>(size_);
  for (int rank = 1; rank < size_ && status.ok(); ++rank) {
    const StreamSocket& socket = connections_[static_cast<size_t>(rank)];
    status = socket.Send(&frame, sizeof(frame), deadline);
    if (status.ok()) status = socket.Send(all, frame.bytes, deadline);
    if (status.ok()) continue;
    // In a half-sent answer, a failure would count as data.
    shutdown(socket.fd(), SHUT_RDWR);
    status = Lost(rank, status);
  }
  if (status.ok()) return status;
  const Deadline sent = Clock::now() + kFailureTime;
  for (int rank = 1; rank < size_; ++rank) {
    SendFailure(connections_[static_cast<size_t>(rank)], status, sent);
  }
  return status;
}

Status StarBootstrap::Collect(size_t bytes, char* all, Deadline deadline) {
  std::vector<Part> parts(static_cast<size_t>(size_));
  std::vector<pollfd> polled(parts.size());
  const size_t whole = sizeof(BootstrapFrame) + bytes;
  const auto lacks = [&](const Part& part) { return part.received < whole; };
  parts[0].received = whole;
  while (std::any_of(parts.begin(), parts.end(), lacks)) {
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      // A rank that has sent its part sends nothing more, but it may end.
      polled[rank] = {connections_[rank].fd(),
                      static_cast<short>(lacks(parts[rank]) ? POLLIN : POLLRDHUP), 0};
    }
    const int ready = poll(polled.data(), polled.size(), MillisecondsUntil(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) {
      return Status(StatusCode::kUnavailable, std::string("rank 0: poll: ") + std::strerror(errno));
    }
    if (ready == 0) {
      const auto late = std::find_if(parts.begin(), parts.end(), lacks) - parts.begin();
      return Status(StatusCode::kTimedOut,
                    "rank " + std::to_string(late) + " of " + std::to_string(size_) +
                        " has not joined in making a group within the time limit "
                        "(brigade_bootstrap_options::timeout_seconds)");
    }
    for (int rank = 1; rank < size_; ++rank) {
      Part& part = parts[static_cast<size_t>(rank)];
      if (polled[static_cast<size_t>(rank)].revents == 0) continue;
      const bool in_frame = part.received < sizeof(part.frame);
      char* const into =
          in_frame ? reinterpret_cast<char*>(&part.frame) + part.received
                   : all + static_cast<size_t>(rank) * bytes + part.received - sizeof(part.frame);
      size_t received = 0;
      const Status status = connections_[static_cast<size_t>(rank)].ReceiveSome(
          into, (in_frame ? sizeof(part.frame) : whole) - part.received, &received);
      if (!status.ok()) return Lost(rank, status);
      part.received += received;
      if (part.received == sizeof(part.frame) &&
          (!part.frame.IsValid() || part.frame.bytes != bytes)) {
        return Status(StatusCode::kMismatch,
                      "the ranks do not make the same groups in the same order: rank 0 sends " +
                          std::to_string(bytes) + " bytes, rank " + std::to_string(rank) +
                          " sends " + std::to_string(part.frame.bytes));
      }
    }
  }
  return Status();
}

Status StarBootstrap::GatherThroughRoot(const void* mine, size_t bytes, void* all) {
  const Deadline deadline = Clock::now() + kLimitFactor * limit_;
  const StreamSocket& socket = connections_.front();
  BootstrapFrame frame;
  frame.bytes = bytes;
  // Rank 0 may have sent a failure before it ended, which is the reason.
  (void)socket.Send(&frame, sizeof(frame), deadline);
  (void)socket.Send(mine, bytes, deadline);
  BootstrapFrame answer;
  answer.code = 0;
  const Status received = ReceiveFrame(socket, deadline, &answer);
  if (!received.ok()) return answer.code != 0 ? received : Lost(0, received);
  const Status got = socket.Receive(all, bytes * static_cast<size_t>(size_), deadline);
  return got.ok() ? got : Lost(0, got);
}

Status StarBootstrap::Lost(int rank, const Status& why) const {
  const char* const what = why.code() == StatusCode::kTimedOut ? " has stalled" : " has ended";
  return Status(why.code(), "rank " + std::to_string(rank) + " of " + std::to_string(size_) + what +
                                " while a group was made: " + why.message());
}

}  // namespace brigade
