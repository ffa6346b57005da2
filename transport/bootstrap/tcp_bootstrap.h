// TcpBootstrap: the members of a new group find each other at the address of rank 0, without a
// launcher or an MPI.
//
// Rank 0, the root of the bootstrap, listens, and the others connect. Each side proves that it has
// the job's secret (handshake.h). Rank 0 listens until all ranks have joined. Gathers go over it.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_TCP_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_TCP_BOOTSTRAP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "membuf/status.h"
#include "transport/bootstrap.h"

namespace brigade {

struct TcpBootstrapOptions {
  // Keeps other processes out. Equal on all ranks. Empty: every process that can connect to rank 0
  // and knows the name of the job can take the place of a rank.
  std::string secret;
  // The name of the job, of up to 63 bytes. Equal on all ranks, and best different for each job, so
  // that a rank of another job at the same address is refused.
  std::string job;
  // How long Create may take on this rank, and how long a gather on rank 0 waits for other ranks.
  double time_limit_seconds = 60;
};

class TcpBootstrap {
 public:
  // Collective over the job: `address` is "HOST:PORT" of rank 0, an IPv6 address in brackets, and
  // `size` the number of ranks, equal on all of them. Rank 0 may start later than others.
  // Blocks until all ranks have joined. A connection of another process is closed, and has no other
  // effect. A thread looks a host name up; if the resolver does not answer by the time limit, the
  // thread outlives the call. A rank that all addresses of the host reject fails at once, otherwise
  // at its time limit: another program may listen at one of them.
  //
  // kInvalidArgument: the address, the rank or an option is wrong. kUnavailable: rank 0 cannot
  // listen, with the reason, such as an address in use; or there is no libsodium. kTimedOut, naming
  // the ranks that have not joined; or rank 0 was not reached. kMismatch: sizes, jobs or secrets
  // differ, or a rank has joined twice. kPeerLost: a rank has ended meanwhile. If one
  // rank fails, all do within their time limits.
  static Status Create(const std::string& address, int rank, int size,
                       const TcpBootstrapOptions& options, std::unique_ptr<Bootstrap>* bootstrap);
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_TCP_BOOTSTRAP_H_
