// Receives: the posted receives, and the leases of completed ones.

#ifndef BRIGADE_TRANSPORT_SHM_RECEIVES_H_
#define BRIGADE_TRANSPORT_SHM_RECEIVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "transport/completion.h"
#include "transport/core/completion_queue.h"
#include "transport/edge/edge.h"
#include "transport/edge/posted_buffer.h"
#include "transport/shm/group.h"
#include "transport/shm/streams.h"

namespace brigade::shm {

class Receives {
 public:
  explicit Receives(CompletionQueue* completions) : completions_(completions) {}
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  bool empty() const { return expecting_.empty(); }
  Status Post(InStream* in, const InStream::Receive& receive);
  // As EdgeAccess::PostBuffer. Posts no memory that the sender of the whole message would not write
  // to: a receive with a posted buffer holds up the receives behind it.
  static bool PostBuffer(InStream* in, const StridedLayout& layout, std::byte* base) {
    if (in->receives.size() != 1 || in->edge.Peek() != nullptr ||
        !PostedBuffer::IsFor(layout, base, in->edge.peer_memory().kernel_copies().writes)) {
      return false;
    }
    return in->has_posted = in->edge.PostBuffer(layout, base);
  }
  // Copies the first bytes of the next message of a stream without a posted receive; returns how
  // many.
  static size_t Peek(InStream* in, ByteSpan head);
  // Completes the receives whose messages have come. Returns whether there was one.
  bool TakeArrivals();
  // Releases a lease.
  void Release(const Lease& lease);
  // Removes the receives of a closed group.
  void Forget(const Group* group);
  // Completes receives whose messages have come, and then fails all receives from lost peers.
  void FailLost();

 private:
  struct Leased {
    InStream* in = nullptr;
    InEdge::Receipt receipt;
    bool is_segment = false;
  };

  // REQUIRES: `slot` is the next of the stream.
  void Match(InStream* in, const Slot* slot, const InStream::Receive& receive);
  uint64_t AddLease(const Leased& leased);  // a token
  void Fail(InStream* in, const Status& status);

  CompletionQueue* const completions_;
  std::vector<InStream*> expecting_;  // with receives posted
  std::vector<Leased> leased_;
  std::vector<uint64_t> free_leases_;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_RECEIVES_H_
