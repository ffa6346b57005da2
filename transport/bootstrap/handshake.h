// The handshake of a bootstrap over TCP: the messages between rank 0, which listens, and each other
// rank, and their proofs.
//
// A rank sends a join request: its job, rank and number of ranks. Rank 0 answers with a challenge:
// a nonce, and its proof for the request and the nonce. The rank answers with its own proof for
// both, and rank 0 accepts it with an empty frame. A proof is a message authentication code under a
// key made of the job's secret, so neither side learns the secret, and a recorded handshake is of
// no use. From then on both send frames. The proofs protect against other processes, not against
// modification of packets on the way.
//
// All numbers are little-endian.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_HANDSHAKE_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_HANDSHAKE_H_

#include <array>
#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "transport/bootstrap/stream_socket.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {

// The properties of a job that its ranks must agree on.
struct JobIdentity {
  std::string job;  // its name, of up to kMostJobBytes bytes
  int size = 0;
  AuthKey key;
};
inline constexpr size_t kMostJobBytes = 63;

struct JoinRequest {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  int32_t rank;
  int32_t size;
  uint32_t left_ms;  // until the rank gives up
  uint32_t also_zero;
  char job[kMostJobBytes + 1];  // ended by a null character
  AuthKey nonce;
};
static_assert(sizeof(JoinRequest) == 128, "no padding");

using Proof = std::array<unsigned char, 32>;

struct Challenge {
  AuthKey nonce;
  Proof proof;
};
static_assert(sizeof(Challenge) == 64, "no padding");

// Begins every message behind a join request and a proof.
struct BootstrapFrame {
  uint32_t magic = 0x6272696d;
  uint32_t code = 0;  // StatusCode; 0: `bytes` bytes of data follow, otherwise of text
  uint64_t bytes = 0;

  bool IsValid() const { return magic == BootstrapFrame().magic; }
};
static_assert(sizeof(BootstrapFrame) == 16, "no padding");
inline constexpr size_t kMostFailureBytes = 4096;

// Makes the key of a secret, which may be empty. kUnavailable: this host has no libsodium.
Status MakeKey(const std::string& secret, AuthKey* key);

// Makes the join request of a rank. kUnavailable: the system has no random numbers.
Status MakeJoinRequest(const JobIdentity& job, int rank, uint32_t left_ms, JoinRequest* request);

// Compares a join request with the job of rank 0. kMismatch: it is none, or of another version or
// job. The size of the job is not compared. *detail: more for rank 0's own message, such
// as the name of its job, which other processes need not know.
Status CheckJoinRequest(const JobIdentity& job, const JoinRequest& request, std::string* detail);

// A failure of both sides.
inline constexpr char kOtherSecret[] =
    "the secret is not that of rank 0; give all ranks the same secret";

enum class Prover : uint8_t { kRankZero, kOtherRank };

Proof Prove(const AuthKey& key, Prover prover, const JoinRequest& request, const AuthKey& nonce);
// Returns whether `proof` is the result of Prove. The time does not depend on the key.
bool IsProof(const AuthKey& key, Prover prover, const JoinRequest& request, const AuthKey& nonce,
             const Proof& proof);

// Sends a failure in a frame. Errors are ignored: the other side may be gone.
void SendFailure(const StreamSocket& socket, const Status& failure, Deadline deadline);

// Receives the beginning of a frame of data. Returns the failure that the other side has sent, or
// the failure of StreamSocket::Receive. kInternal: it is no frame.
Status ReceiveFrame(const StreamSocket& socket, Deadline deadline, BootstrapFrame* frame);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_HANDSHAKE_H_
