// Transport `tcp`: TCP between hosts, by io_uring with registered staging memory, or by plain
// sockets if there is no io_uring. README.md explains how it implements the contract.

#ifndef BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_
#define BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

struct TcpOptions {
  // Interface name or CIDR, see network_interface.h; empty: choose one.
  std::string interface;
  // Transport `sockets`: do not use io_uring, whatever the next field says.
  bool plain_sockets = false;
  // Whether io_uring reads, if there is one; none: unless plain calls are faster in a trial when a
  // group is made.
  std::optional<bool> io_uring = true;
  // Time without acknowledgement, or without a connection, after which a peer's host or network
  // counts as lost; a cable may be out for two fifths of it.
  std::chrono::seconds silence{150};
  // Called with messages about missing features and about strangers; default: a line on stderr.
  std::function<void(const std::string&)> log;
};

// Makes an endpoint. Local; opens no socket before there is a group with peers, which fails with
// kUnavailable on all members if one cannot have a socket. kInvalidArgument: no such interface;
// kUnavailable: there is no interface, or no random bits.
Status CreateTcpEndpoint(const TcpOptions& options, std::unique_ptr<Endpoint>* endpoint);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_
