// Transport `tcp`: TCP between hosts, driven by io_uring with registered staging memory, or by
// plain sockets where there is no io_uring. How it keeps the contract: README.md.

#ifndef BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_
#define BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

struct TcpOptions {
  // Interface name or CIDR, see network_interface.h; empty: choose one.
  std::string interface;
  // Never io_uring.
  bool plain_sockets = false;
  // A peer whose host or network is gone is noticed when it has not acknowledged anything, or no
  // connection to it has come about, for so long; a cable may be out for two fifths of it.
  std::chrono::seconds silence{150};
  // Hears of what is done without and of strangers; default: a line on stderr.
  std::function<void(const std::string&)> log;
};

// Local, and opens nothing before there is a group with peers, which fails with kUnavailable on all
// members if one can have no socket. kInvalidArgument: no such interface; kUnavailable: there is
// none, or no random bits.
Status CreateTcpEndpoint(const TcpOptions& options, std::unique_ptr<Endpoint>* endpoint);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_TCP_TRANSPORT_H_
