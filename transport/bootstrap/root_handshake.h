// RootHandshake: rank 0's side of the handshake on one connection. No call waits.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_ROOT_HANDSHAKE_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_ROOT_HANDSHAKE_H_

#include <cstddef>
#include <string>
#include <utility>

#include "membuf/status.h"
#include "transport/bootstrap/handshake.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

class RootHandshake {
 public:
  // `peer`: the address of the other side, for messages. `job` must outlive the handshake.
  RootHandshake(const JobIdentity& job, StreamSocket socket, std::string peer)
      : job_(job), socket_(std::move(socket)), peer_(std::move(peer)) {}

  enum class State { kPending, kAuthenticated, kRejected };
  // Reads the bytes that have arrived, and answers a complete message. kAuthenticated: request() is
  // of a process that knows the secret. kRejected, with the reason in *why: nothing may follow.
  State Advance(std::string* why);

  const StreamSocket& socket() const { return socket_; }
  StreamSocket TakeSocket() { return std::move(socket_); }
  const std::string& peer() const { return peer_; }
  bool has_request() const { return received_ >= sizeof(JoinRequest); }
  // REQUIRES: has_request().
  const JoinRequest& request() const { return input_.request; }

 private:
  State SendChallenge(std::string* why);
  State Reject(const Status& failure, std::string* why) const;

  const JobIdentity& job_;
  StreamSocket socket_;
  const std::string peer_;
  struct {
    JoinRequest request;
    Proof proof;
  } input_;
  static_assert(sizeof(input_) == sizeof(JoinRequest) + sizeof(Proof), "no padding");
  size_t received_ = 0;  // of input_
  AuthKey nonce_;        // of the challenge
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_ROOT_HANDSHAKE_H_
