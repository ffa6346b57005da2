#include "transport/bootstrap/rank_joining.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// To connect, and for the answer to a hello. Another program may listen at one of the addresses.
constexpr std::chrono::seconds kAttempt(5);
// Between two attempts.
constexpr milliseconds kFirstPause(10);
constexpr milliseconds kLongestPause(200);
// Rank 0 ends its wait so much before this rank does, so that its reason arrives in time.
constexpr milliseconds kMostMargin(1000);
constexpr int kMarginFraction = 10;

uint32_t MillisecondsForRankZero(Deadline deadline) {
  const milliseconds left(MillisecondsUntil(deadline));
  return static_cast<uint32_t>((left - std::min(kMostMargin, left / kMarginFraction)).count());
}

// kRefused: by a program that has not proved that it is rank 0.
enum class Next { kJoined, kTryAgain, kRefused, kGiveUp };

// Says hello on a new connection. *status has the reason if this rank has not joined.
Next Greet(const StreamSocket& socket, const JobIdentity& job, int rank, Deadline deadline,
           Status* status) {
  const Deadline answered = std::min(deadline, Clock::now() + kAttempt);
  Hello hello;
  *status = MakeHello(job, rank, MillisecondsForRankZero(deadline), &hello);
  if (!status->ok()) return Next::kGiveUp;
  *status = socket.Send(&hello, sizeof(hello), answered);
  if (!status->ok()) return Next::kTryAgain;
  BootstrapFrame frame;
  *status = ReceiveFrame(socket, answered, &frame);
  if (!status->ok()) return frame.IsValid() && frame.code != 0 ? Next::kRefused : Next::kTryAgain;
  Challenge challenge;
  *status = frame.bytes == sizeof(challenge)
                ? socket.Receive(&challenge, sizeof(challenge), answered)
                : Status(StatusCode::kInternal, "it is no rank 0 of Brigade");
  if (!status->ok()) return Next::kTryAgain;
  if (!IsProof(job.key, Prover::kRankZero, hello, challenge.nonce, challenge.proof)) {
    *status = Status(StatusCode::kMismatch, kOtherSecret);
    return Next::kRefused;
  }
  const Proof proof = Prove(job.key, Prover::kOtherRank, hello, challenge.nonce);
  *status = socket.Send(proof.data(), proof.size(), answered);
  if (!status->ok()) return Next::kTryAgain;
  // Rank 0 closes connections that it has not welcomed if strangers make too many.
  *status = ReceiveFrame(socket, deadline, &frame);
  if (status->ok()) return Next::kJoined;
  return frame.IsValid() && frame.code != 0 ? Next::kGiveUp : Next::kTryAgain;
}

// The same at one address after the other. A refusal counts once all addresses have refused.
Next TryOnce(const std::string& address, const JobIdentity& job, int rank, Deadline deadline,
             StreamSocket* rank_zero, Status* status) {
  std::vector<SystemAddress> addresses;
  *status = Resolve(address, &addresses);
  Status refusal;
  size_t refused = 0;
  for (const SystemAddress& one : addresses) {
    StreamSocket socket;
    *status = ConnectTo(one, std::min(deadline, Clock::now() + kAttempt), &socket);
    if (!status->ok()) continue;
    const Next next = Greet(socket, job, rank, deadline, status);
    if (next == Next::kJoined) *rank_zero = std::move(socket);
    if (next == Next::kJoined || next == Next::kGiveUp) return next;
    if (next != Next::kRefused) continue;
    refusal = *status;
    ++refused;
  }
  if (refused == 0) return Next::kTryAgain;
  *status = refusal;
  return refused == addresses.size() ? Next::kRefused : Next::kTryAgain;
}

}  // namespace

Status JoinRankZero(const std::string& address, const JobIdentity& job, int rank, Deadline deadline,
                    const std::string& limit, StreamSocket* rank_zero) {
  const std::string name = "rank " + std::to_string(rank) + " of " + std::to_string(job.size);
  const std::string at = "rank 0 at " + address;
  Status last;
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Status status;
    const Next next = TryOnce(address, job, rank, deadline, rank_zero, &status);
    if (next == Next::kJoined) break;
    if (next != Next::kTryAgain) return status.WithContext(name + ", connected to " + at);
    // An attempt that the limit has cut short says nothing.
    if (last.ok() || status.code() != StatusCode::kTimedOut) last = status;
    if (MillisecondsUntil(deadline) == 0) {
      return Status(StatusCode::kTimedOut, name + " has not reached " + at + " within " + limit +
                                               ": " + last.message() +
                                               "; start rank 0, or correct the address");
    }
    std::this_thread::sleep_for(std::min(pause, milliseconds(MillisecondsUntil(deadline))));
  }
  BootstrapFrame begin;
  const Status status = ReceiveFrame(*rank_zero, deadline, &begin);
  if (status.ok() || begin.code != 0) return status;  // the reason of rank 0
  if (status.code() == StatusCode::kTimedOut) {
    return Status(StatusCode::kTimedOut,
                  name + ": " + at + " has not gathered all ranks within " + limit);
  }
  return status.WithContext(name + ": " + at + " has ended during the bootstrap");
}

}  // namespace brigade
