// Fuzz target: rank 0 accepts no process without the secret, whatever it sends.
//
// The input has the number of bytes that the process sends, the number in each write, and the
// changes to the bytes of a right join request and of a right proof.

#include "transport/bootstrap/root_handshake.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {
namespace {

using State = RootHandshake::State;

struct Input {
  uint8_t sent = 0;
  uint8_t step = 0;
  uint8_t request[sizeof(JoinRequest)] = {};
  uint8_t proof[sizeof(Proof)] = {};
};

Deadline Later() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

JobIdentity Job() {
  JobIdentity job{"job 1", 3, AuthKey()};
  BRIGADE_CHECK(MakeKey("secret", &job.key).ok());
  return job;
}

template <typename Message>
void Change(const uint8_t* changes, Message* message) {
  auto* const bytes = reinterpret_cast<uint8_t*>(message);
  for (size_t i = 0; i < sizeof(*message); ++i) bytes[i] ^= changes[i];
}

// The other side of the connection.
class Peer {
 public:
  Peer(const Input& input, RootHandshake* root, StreamSocket socket)
      : root_(root), socket_(std::move(socket)), left_(input.sent), step_(input.step + size_t{1}) {}

  // Sends the message, as far as the input goes, and then ends the connection. Returns the state
  // after the last byte.
  template <typename Message>
  State Send(const Message& message) {
    const auto* next = reinterpret_cast<const char*>(&message);
    for (size_t rest = sizeof(message); rest > 0;) {
      const size_t bytes = std::min({rest, left_, step_});
      if (bytes == 0) {
        shutdown(socket_.fd(), SHUT_WR);
      } else {
        BRIGADE_CHECK(socket_.Send(next, bytes, Later()).ok());
      }
      const State state = root_->Advance(&why_);
      next += bytes;
      rest -= bytes;
      left_ -= bytes;
      if (rest == 0 || bytes == 0) return state;
      BRIGADE_CHECK(state == State::kPending);
    }
    return State::kPending;
  }

  // Rank 0 has sent a failure, and keeps the same reason.
  void ExpectFailure() const {
    BootstrapFrame frame;
    const Status failure = ReceiveFrame(socket_, Later(), &frame);
    BRIGADE_CHECK(failure.code() == StatusCode::kMismatch);
    const auto is_unprintable = [](unsigned char byte) { return byte < ' ' || byte > '~'; };
    const std::string& text = failure.message();
    BRIGADE_CHECK(std::none_of(text.begin(), text.end(), is_unprintable));
    BRIGADE_CHECK_EQ(why_.compare(0, text.size() + 6, "peer: " + text), 0);
  }
  Challenge ReceiveChallenge() const {
    BootstrapFrame frame;
    Challenge challenge;
    BRIGADE_CHECK(ReceiveFrame(socket_, Later(), &frame).ok());
    BRIGADE_CHECK_EQ(frame.bytes, sizeof(challenge));
    BRIGADE_CHECK(socket_.Receive(&challenge, sizeof(challenge), Later()).ok());
    return challenge;
  }

 private:
  RootHandshake* const root_;
  const StreamSocket socket_;
  size_t left_;
  const size_t step_;
  std::string why_;
};

void Run(const Input& input) {
  static const JobIdentity job = Job();
  int ends[2];
  BRIGADE_CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  RootHandshake root(job, StreamSocket(ends[0]), "peer");
  Peer peer(input, &root, StreamSocket(ends[1]));

  JoinRequest right;
  BRIGADE_CHECK(MakeJoinRequest(job, 1, 60000, &right).ok());
  JoinRequest request = right;
  Change(input.request, &request);
  const bool is_of_job = std::memcmp(request.magic, right.magic, sizeof(right.magic)) == 0 &&
                         request.version == right.version &&
                         std::strncmp(request.job, right.job, sizeof(right.job)) == 0;
  const State asked = peer.Send(request);
  BRIGADE_CHECK_EQ(root.has_request(), input.sent >= sizeof(request));
  BRIGADE_CHECK(asked == (root.has_request() && is_of_job ? State::kPending : State::kRejected));
  if (!root.has_request()) return;
  BRIGADE_CHECK_EQ(std::memcmp(&root.request(), &request, sizeof(request)), 0);
  if (!is_of_job) return peer.ExpectFailure();

  const Challenge challenge = peer.ReceiveChallenge();
  BRIGADE_CHECK(IsProof(job.key, Prover::kRankZero, request, challenge.nonce, challenge.proof));
  const Proof right_proof = Prove(job.key, Prover::kOtherRank, request, challenge.nonce);
  Proof proof = right_proof;
  Change(input.proof, &proof);
  const bool is_whole = input.sent >= sizeof(request) + sizeof(proof);
  const State answered = peer.Send(proof);
  BRIGADE_CHECK(answered ==
                (is_whole && proof == right_proof ? State::kAuthenticated : State::kRejected));
  if (is_whole && answered == State::kRejected) peer.ExpectFailure();
}

}  // namespace
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  brigade::Input input;
  std::copy_n(data, std::min(bytes, sizeof(input)), reinterpret_cast<uint8_t*>(&input));
  brigade::Run(input);
  return 0;
}
