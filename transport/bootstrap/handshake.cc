#include "transport/bootstrap/handshake.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "transport/tcp/wire/sodium_library.h"

namespace brigade {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structures travel as they are");
static_assert(sizeof(Proof) == crypto_auth_BYTES && sizeof(AuthKey) == crypto_auth_KEYBYTES);

constexpr char kMagic[8] = {'b', 'r', 'i', 'g', 'b', 'o', 'o', 't'};
constexpr uint32_t kVersion = 2;

// The text under a proof.
struct Proven {
  JoinRequest request;
  AuthKey nonce;
  uint64_t prover;
};
static_assert(sizeof(Proven) == 168, "no padding");

Proven TextOf(Prover prover, const JoinRequest& request, const AuthKey& nonce) {
  return {request, nonce, static_cast<uint64_t>(prover)};
}

const unsigned char* Unsigned(const void* data) { return static_cast<const unsigned char*>(data); }

Status Mismatch(const std::string& what) { return Status(StatusCode::kMismatch, what); }

// Replaces bytes that a terminal may interpret: the text is of another process.
std::string Printable(std::string text) {
  const auto is_unprintable = [](unsigned char byte) { return std::isprint(byte) == 0; };
  std::replace_if(text.begin(), text.end(), is_unprintable, '?');
  return text;
}

}  // namespace

Status MakeKey(const std::string& secret, AuthKey* key) {
  AuthKey unused;  // fails without libsodium
  BRIGADE_RETURN_IF_ERROR(MakeRandom(&unused));
  AuthKey domain;  // other uses of the same secret have other keys
  std::copy(std::begin(kMagic), std::end(kMagic), domain.bytes);
  Libsodium().crypto_auth(key->bytes, Unsigned(secret.data()), secret.size(), domain.bytes);
  return Status();
}

Status MakeJoinRequest(const JobIdentity& job, int rank, uint32_t left_ms, JoinRequest* request) {
  *request = JoinRequest();
  std::copy(std::begin(kMagic), std::end(kMagic), request->magic);
  request->version = kVersion;
  request->rank = rank;
  request->size = job.size;
  request->left_ms = left_ms;
  job.job.copy(request->job, kMostJobBytes);
  return MakeRandom(&request->nonce);
}

Status CheckJoinRequest(const JobIdentity& job, const JoinRequest& request, std::string* detail) {
  if (!std::equal(std::begin(kMagic), std::end(kMagic), request.magic)) {
    return Mismatch("it is not a rank of Brigade");
  }
  if (request.version != kVersion) {
    return Mismatch("handshake version " + std::to_string(request.version) +
                    " is not the handshake version " + std::to_string(kVersion) +
                    " of rank 0; start all ranks with the same Brigade");
  }
  const std::string their_job(request.job, strnlen(request.job, sizeof(request.job)));
  if (their_job != job.job) {
    *detail = "; rank 0 has job '" + job.job + "'";
    return Mismatch("job '" + Printable(their_job) +
                    "' is not the job of rank 0; give each job an address of its own");
  }
  return Status();
}

Proof Prove(const AuthKey& key, Prover prover, const JoinRequest& request, const AuthKey& nonce) {
  Proof proof;
  const Proven text = TextOf(prover, request, nonce);
  Libsodium().crypto_auth(proof.data(), Unsigned(&text), sizeof(text), key.bytes);
  return proof;
}

bool IsProof(const AuthKey& key, Prover prover, const JoinRequest& request, const AuthKey& nonce,
             const Proof& proof) {
  const Proven text = TextOf(prover, request, nonce);
  return Libsodium().crypto_auth_verify(proof.data(), Unsigned(&text), sizeof(text), key.bytes) ==
         0;
}

void SendFailure(const StreamSocket& socket, const Status& failure, Deadline deadline) {
  BootstrapFrame frame;
  frame.code = static_cast<uint32_t>(failure.code());
  frame.bytes = std::min(failure.message().size(), kMostFailureBytes);
  std::string message(reinterpret_cast<const char*>(&frame), sizeof(frame));
  message += failure.message().substr(0, kMostFailureBytes);
  (void)socket.Send(message.data(), message.size(), deadline);
}

Status ReceiveFrame(const StreamSocket& socket, Deadline deadline, BootstrapFrame* frame) {
  BRIGADE_RETURN_IF_ERROR(socket.Receive(frame, sizeof(*frame), deadline));
  if (!frame->IsValid()) return Status(StatusCode::kInternal, "it is not a rank of Brigade");
  if (frame->code == 0) return Status();
  if (frame->bytes > kMostFailureBytes || frame->code > static_cast<uint32_t>(StatusCode::kAborted))
    return Status(StatusCode::kInternal, "it has sent an invalid failure");
  std::string text(frame->bytes, 0);
  BRIGADE_RETURN_IF_ERROR(socket.Receive(text.data(), text.size(), deadline));
  return Status(static_cast<StatusCode>(frame->code), Printable(text));
}

}  // namespace brigade
