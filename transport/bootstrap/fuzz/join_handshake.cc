// Fuzz target: a rank joins no process without the secret, whatever it answers.
//
// The input has the number of bytes of the answer, the changes to the bytes of a right one, and
// the bytes behind it. The answer does not wait for the proof of the rank.

#include "transport/bootstrap/join_handshake.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "membuf/check.h"
#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {
namespace {

// All that rank 0 sends in a handshake.
struct Answer {
  BootstrapFrame frame;
  Challenge challenge;
  BootstrapFrame accepted;
};
static_assert(sizeof(Answer) == 96, "no padding");

struct Input {
  uint8_t sent = 0;
  uint8_t changes[sizeof(Answer)] = {};
};

Deadline Later() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

JobIdentity Job() {
  JobIdentity job{"job 1", 3, AuthKey()};
  BRIGADE_CHECK(MakeKey("secret", &job.key).ok());
  return job;
}

void SendAnswer(const JobIdentity& job, const Input& input, const std::string& more,
                const StreamSocket& socket) {
  JoinRequest request;
  BRIGADE_CHECK(socket.Receive(&request, sizeof(request), Later()).ok());
  Answer right;
  right.frame.bytes = sizeof(Challenge);
  right.challenge.nonce = {{1, 2, 3}};
  right.challenge.proof = Prove(job.key, Prover::kRankZero, request, right.challenge.nonce);
  std::string answer(reinterpret_cast<const char*>(&right), sizeof(right));
  for (size_t i = 0; i < sizeof(right); ++i) {
    answer[i] = static_cast<char>(answer[i] ^ input.changes[i]);
  }
  answer = (answer + more).substr(0, input.sent < sizeof(right) ? input.sent : std::string::npos);
  (void)socket.Send(answer.data(), answer.size(), Later());
  shutdown(socket.fd(), SHUT_WR);
}

void Run(const Input& input, const std::string& more) {
  static const JobIdentity job = Job();
  int ends[2];
  BRIGADE_CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  const StreamSocket rank(ends[0]);
  const StreamSocket other(ends[1]);
  std::thread answer([&] { SendAnswer(job, input, more, other); });
  Status status;
  const JoinOutcome outcome = RequestJoin(rank, job, 1, Later(), &status);
  answer.join();

  // The length in the frame of acceptance has no meaning.
  const size_t meant = offsetof(Answer, accepted.bytes);
  const bool is_right =
      input.sent >= sizeof(Answer) && std::none_of(input.changes, input.changes + meant,
                                                   [](uint8_t change) { return change != 0; });
  BRIGADE_CHECK_EQ(outcome == JoinOutcome::kJoined, is_right);
  BRIGADE_CHECK_EQ(status.ok(), is_right);
  BRIGADE_CHECK(status.code() <= StatusCode::kAborted);
  const std::string& text = status.message();
  BRIGADE_CHECK_LE(text.size(), kMostFailureBytes);
  BRIGADE_CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

}  // namespace
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  brigade::Input input;
  const size_t given = std::min(bytes, sizeof(input));
  std::copy_n(data, given, reinterpret_cast<uint8_t*>(&input));
  brigade::Run(input, std::string(data + given, data + bytes));
  return 0;
}
