// The members of a group that are connected to rank 0: every gather goes to rank 0 and back.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_STAR_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_STAR_BOOTSTRAP_H_

#include <chrono>
#include <cstddef>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/bootstrap/stream_socket.h"

namespace brigade {

// After a failure, which all ranks get, every gather returns it.
class StarBootstrap : public Bootstrap {
 public:
  // `connections`: on rank 0 one to each rank, by rank, with none to itself; on other ranks one, to
  // rank 0. `limit`: how long rank 0 waits for the others in a gather.
  StarBootstrap(int rank, int size, std::vector<StreamSocket> connections,
                std::chrono::nanoseconds limit);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // kPeerLost: a rank has ended. kTimedOut: a rank has not called. kMismatch: the ranks gather
  // different numbers of bytes. The text names the rank.
  Status AllGather(const void* mine, size_t bytes, void* all) override;

 private:
  // AllGather on rank 0, and on the other ranks.
  Status GatherAsRoot(const void* mine, size_t bytes, void* all);
  Status GatherThroughRoot(const void* mine, size_t bytes, void* all);
  // Receives the parts of all other ranks on rank 0.
  Status Collect(size_t bytes, char* all, Deadline deadline);
  Status Lost(int rank, const Status& why) const;

  const int rank_;
  const int size_;
  const std::vector<StreamSocket> connections_;
  const std::chrono::nanoseconds limit_;
  Status failure_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_STAR_BOOTSTRAP_H_
