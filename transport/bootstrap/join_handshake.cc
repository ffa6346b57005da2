#include "transport/bootstrap/join_handshake.h"

#include <algorithm>
#include <chrono>

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// For the answer to a join request. Another program may listen at one of the addresses.
constexpr std::chrono::seconds kAnswerTime(5);
// Rank 0 ends its wait so much before this rank does, so that its reason arrives in time.
constexpr milliseconds kMostMargin(1000);
constexpr int kMarginFraction = 10;

uint32_t MillisecondsForRankZero(Deadline deadline) {
  const milliseconds left(MillisecondsUntil(deadline));
  return static_cast<uint32_t>((left - std::min(kMostMargin, left / kMarginFraction)).count());
}

}  // namespace

JoinOutcome RequestJoin(const StreamSocket& socket, const JobIdentity& job, int rank,
                        Deadline deadline, Status* status) {
  const Deadline answered = std::min(deadline, Clock::now() + kAnswerTime);
  JoinRequest request;
  *status = MakeJoinRequest(job, rank, MillisecondsForRankZero(deadline), &request);
  if (!status->ok()) return JoinOutcome::kGiveUp;
  *status = socket.Send(&request, sizeof(request), answered);
  if (!status->ok()) return JoinOutcome::kTryAgain;
  BootstrapFrame frame;
  *status = ReceiveFrame(socket, answered, &frame);
  if (!status->ok()) {
    return frame.IsValid() && frame.code != 0 ? JoinOutcome::kRejected : JoinOutcome::kTryAgain;
  }
  Challenge challenge;
  *status = frame.bytes == sizeof(challenge)
                ? socket.Receive(&challenge, sizeof(challenge), answered)
                : Status(StatusCode::kInternal, "it is not rank 0 of a job of Brigade");
  if (!status->ok()) return JoinOutcome::kTryAgain;
  if (!IsProof(job.key, Prover::kRankZero, request, challenge.nonce, challenge.proof)) {
    *status = Status(StatusCode::kMismatch, kOtherSecret);
    return JoinOutcome::kRejected;
  }
  const Proof proof = Prove(job.key, Prover::kOtherRank, request, challenge.nonce);
  *status = socket.Send(proof.data(), proof.size(), answered);
  if (!status->ok()) return JoinOutcome::kTryAgain;
  // Rank 0 closes connections that it has not accepted if there are too many of them.
  *status = ReceiveFrame(socket, deadline, &frame);
  if (status->ok()) return JoinOutcome::kJoined;
  return frame.IsValid() && frame.code != 0 ? JoinOutcome::kGiveUp : JoinOutcome::kTryAgain;
}

}  // namespace brigade
