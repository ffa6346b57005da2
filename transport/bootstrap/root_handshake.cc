#include "transport/bootstrap/root_handshake.h"

#include <chrono>

namespace brigade {

using Clock = std::chrono::steady_clock;

RootHandshake::State RootHandshake::Advance(std::string* why) {
  const bool awaits_proof = has_request();
  const size_t end = awaits_proof ? sizeof(input_) : sizeof(input_.request);
  size_t bytes = 0;
  const Status status =
      socket_.ReceiveSome(reinterpret_cast<char*>(&input_) + received_, end - received_, &bytes);
  if (!status.ok()) {
    const std::string claim =
        awaits_proof ? ", as rank " + std::to_string(request().rank) + " and without a proof" : "";
    *why = peer_ + claim + ": " + status.message();
    return State::kRejected;
  }
  received_ += bytes;
  if (received_ < end) return State::kPending;
  if (!awaits_proof) return SendChallenge(why);
  if (IsProof(job_.key, Prover::kOtherRank, request(), nonce_, input_.proof)) {
    return State::kAuthenticated;
  }
  return Reject(Status(StatusCode::kMismatch, kOtherSecret), why);
}

RootHandshake::State RootHandshake::SendChallenge(std::string* why) {
  std::string detail;
  Status status = CheckJoinRequest(job_, request(), &detail);
  if (status.ok()) status = MakeRandom(&nonce_);
  if (!status.ok()) {
    const State rejected = Reject(status, why);
    *why += detail;
    return rejected;
  }
  struct {
    BootstrapFrame frame;
    Challenge challenge;
  } message;
  message.frame.bytes = sizeof(Challenge);
  message.challenge = {nonce_, Prove(job_.key, Prover::kRankZero, request(), nonce_)};
  // A new connection has room for it.
  status = socket_.Send(&message, sizeof(message), Clock::now());
  if (status.ok()) return State::kPending;
  *why = peer_ + ": " + status.message();
  return State::kRejected;
}

RootHandshake::State RootHandshake::Reject(const Status& failure, std::string* why) const {
  *why = peer_ + ": " + failure.message();
  SendFailure(socket_, failure, Clock::now());
  return State::kRejected;
}

}  // namespace brigade
