// Completion: a callback for the end of a posted send or receive.

#ifndef BRIGADE_TRANSPORT_COMPLETION_H_
#define BRIGADE_TRANSPORT_COMPLETION_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"

namespace brigade {

// Read access to received bytes: in the chunk that the receiver posted, or, over shared memory, in
// the sender's chunk. A lease may be forwarded (posted as a send) and read any number of times
// until it is released.
struct Lease {
  const std::byte* data = nullptr;
  size_t bytes = 0;
  // 0: the bytes lie in the caller's own receive buffer and releasing is a no-op.
  uint64_t token = 0;
};

// Owned by the caller, at a fixed address, from the post until the callback runs.
struct Completion {
  using Callback = void (*)(Completion*);

  explicit Completion(Callback cb) : callback(cb) {}

  // Runs exactly once, on the thread that posts or calls Progress: before the posting call returns
  // or inside Progress. It may post further operations and may destroy the completion. It must not
  // call Progress.
  Callback callback;
  // Set before the callback. kPeerLost, kMismatch (message longer than its receive buffer) or
  // kInternal on failure.
  Status status;
  // Receives: the received bytes. lease.bytes may be less than the receive buffer.
  Lease lease;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_COMPLETION_H_
