#include "transport/bootstrap/join_root.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "transport/bootstrap/join_handshake.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kConnectTime(5);
// Between two attempts.
constexpr milliseconds kFirstPause(10);
constexpr milliseconds kLongestPause(200);

// Tries one address after the other. A rejection counts once all addresses have rejected the rank.
JoinOutcome TryOnce(const std::string& address, const JobIdentity& job, int rank, Deadline deadline,
                    StreamSocket* rank_zero, Status* status) {
  std::vector<SystemAddress> addresses;
  *status = Resolve(address, deadline, &addresses);
  Status rejection;
  size_t rejections = 0;
  for (const SystemAddress& one : addresses) {
    StreamSocket socket;
    *status = ConnectTo(one, std::min(deadline, Clock::now() + kConnectTime), &socket);
    if (!status->ok()) continue;
    const JoinOutcome outcome = RequestJoin(socket, job, rank, deadline, status);
    if (outcome == JoinOutcome::kJoined) *rank_zero = std::move(socket);
    if (outcome == JoinOutcome::kJoined || outcome == JoinOutcome::kGiveUp) return outcome;
    if (outcome != JoinOutcome::kRejected) continue;
    rejection = *status;
    ++rejections;
  }
  if (rejections == 0) return JoinOutcome::kTryAgain;
  *status = rejection;
  return rejections == addresses.size() ? JoinOutcome::kRejected : JoinOutcome::kTryAgain;
}

}  // namespace

Status JoinRoot(const std::string& address, const JobIdentity& job, int rank, Deadline deadline,
                const std::string& limit, StreamSocket* rank_zero) {
  const std::string name = "rank " + std::to_string(rank) + " of " + std::to_string(job.size);
  const std::string at = "rank 0 at " + address;
  Status last;
  auto outcome = JoinOutcome::kTryAgain;
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Status status;
    outcome = TryOnce(address, job, rank, deadline, rank_zero, &status);
    // The reason of an attempt that the limit has cut short is the limit.
    const bool is_cut_short =
        outcome == JoinOutcome::kTryAgain && status.code() == StatusCode::kTimedOut;
    if (last.ok() || !is_cut_short) last = status;
    if (outcome != JoinOutcome::kTryAgain || MillisecondsUntil(deadline) == 0) break;
    std::this_thread::sleep_for(std::min(pause, milliseconds(MillisecondsUntil(deadline))));
  }
  if (outcome == JoinOutcome::kTryAgain) {
    return Status(StatusCode::kTimedOut, name + " has not reached " + at + " within " + limit +
                                             ": " + last.message() +
                                             "; start rank 0, or correct the address");
  }
  if (outcome != JoinOutcome::kJoined) return last.WithContext(name + ", connected to " + at);
  BootstrapFrame begin;
  const Status status = ReceiveFrame(*rank_zero, deadline, &begin);
  if (status.ok() || begin.code != 0) return status;  // the reason of rank 0
  if (status.code() == StatusCode::kTimedOut) {
    return Status(StatusCode::kTimedOut,
                  name + ": " + at + " has not accepted all ranks within " + limit);
  }
  return status.WithContext(name + ": " + at + " has ended during the bootstrap");
}

}  // namespace brigade
