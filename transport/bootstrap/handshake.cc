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
  Hello hello;
  AuthKey nonce;
  uint64_t prover;
};
static_assert(sizeof(Proven) == 168, "no padding");

Proven TextOf(Prover prover, const Hello& hello, const AuthKey& nonce) {
  return {hello, nonce, static_cast<uint64_t>(prover)};
}

const unsigned char* Unsigned(const void* data) { return static_cast<const unsigned char*>(data); }

Status Mismatch(const std::string& what) { return Status(StatusCode::kMismatch, what); }

}  // namespace

Status MakeKey(const std::string& secret, AuthKey* key) {
  AuthKey tried;  // that there is libsodium
  BRIGADE_RETURN_IF_ERROR(MakeRandom(&tried));
  AuthKey domain;  // other uses of the same secret have other keys
  std::copy(std::begin(kMagic), std::end(kMagic), domain.bytes);
  Libsodium().crypto_auth(key->bytes, Unsigned(secret.data()), secret.size(), domain.bytes);
  return Status();
}

Status MakeHello(const JobIdentity& job, int rank, uint32_t left_ms, Hello* hello) {
  *hello = Hello();
  std::copy(std::begin(kMagic), std::end(kMagic), hello->magic);
  hello->version = kVersion;
  hello->wire_format = job.wire_format;
  hello->rank = rank;
  hello->size = job.size;
  hello->left_ms = left_ms;
  job.job.copy(hello->job, kMostJobBytes);
  return MakeRandom(&hello->nonce);
}

Status CheckHello(const JobIdentity& job, const Hello& hello, std::string* untold) {
  if (!std::equal(std::begin(kMagic), std::end(kMagic), hello.magic)) {
    return Mismatch("it is no rank of Brigade");
  }
  const auto differ = [](const std::string& what, const std::string& its, const std::string& mine,
                         const char* advice) {
    return Mismatch(what + " " + its + " is not the " + what + " " + mine + " of rank 0; " +
                    advice);
  };
  if (hello.version != kVersion) {
    return differ("handshake version", std::to_string(hello.version), std::to_string(kVersion),
                  "start all ranks with the same Brigade");
  }
  std::string its_job(hello.job, strnlen(hello.job, sizeof(hello.job)));
  if (its_job != job.job) {
    const auto is_unprintable = [](unsigned char byte) { return std::isprint(byte) == 0; };
    std::replace_if(its_job.begin(), its_job.end(), is_unprintable, '?');
    *untold = "; rank 0 has job '" + job.job + "'";
    return Mismatch("job '" + its_job +
                    "' is not the job of rank 0; give each job an address of its own");
  }
  if (hello.wire_format != job.wire_format) {
    return differ("wire format", std::to_string(hello.wire_format), std::to_string(job.wire_format),
                  "start all ranks with the same program");
  }
  return Status();
}

Proof Prove(const AuthKey& key, Prover prover, const Hello& hello, const AuthKey& nonce) {
  Proof proof;
  const Proven text = TextOf(prover, hello, nonce);
  Libsodium().crypto_auth(proof.data(), Unsigned(&text), sizeof(text), key.bytes);
  return proof;
}

bool IsProof(const AuthKey& key, Prover prover, const Hello& hello, const AuthKey& nonce,
             const Proof& proof) {
  const Proven text = TextOf(prover, hello, nonce);
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
  if (!frame->IsValid()) return Status(StatusCode::kInternal, "it is no rank of Brigade");
  if (frame->code == 0) return Status();
  if (frame->bytes > kMostFailureBytes || frame->code > static_cast<uint32_t>(StatusCode::kAborted))
    return Status(StatusCode::kInternal, "it has sent an invalid failure");
  std::string text(frame->bytes, 0);
  BRIGADE_RETURN_IF_ERROR(socket.Receive(text.data(), text.size(), deadline));
  return Status(static_cast<StatusCode>(frame->code), text);
}

}  // namespace brigade
