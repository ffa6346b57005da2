// BareSocket: two processes of one host, a TCP connection, send and recv of whole messages from and
// into user memory, and nothing else: the best that TCP can reach here, the yardstick of a
// transport over it.

#ifndef BRIGADE_BENCH_CONTENDERS_BARE_SOCKET_H_
#define BRIGADE_BENCH_CONTENDERS_BARE_SOCKET_H_

#include <mpi.h>

#include <memory>

#include "bench/runner/panel.h"
#include "membuf/status.h"

namespace brigade::bench {

class BareSocket {
 public:
  enum class Waiting {
    kInKernel,  // blocking calls
    kSpinning,  // calls that return at once, again and again
  };

  // Collective over `comm`, whose ranks 0 and 1 are on one host. Ranks above 1 take no part.
  // kUnavailable, on the rank that meets it, if there is no connection to be had.
  static Status Create(MPI_Comm comm, std::unique_ptr<BareSocket>* socket);
  ~BareSocket();
  BareSocket(const BareSocket&) = delete;
  BareSocket& operator=(const BareSocket&) = delete;

  // Between ranks 0 and 1, alternately: the sender receives next. Both sides pass equal bytes,
  // contiguous. kPeerLost, with the error of the connection.
  Status Send(const PanelView& panel, Waiting waiting);
  Status Receive(const PanelView& panel, Waiting waiting);

 private:
  explicit BareSocket(int connection) : connection_(connection) {}

  const int connection_;  // -1 above rank 1
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BARE_SOCKET_H_
