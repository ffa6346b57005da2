// Receives: those that are posted, and the leases of those that are over.

#ifndef BRIGADE_TRANSPORT_SHM_RECEIVES_H_
#define BRIGADE_TRANSPORT_SHM_RECEIVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/completion.h"
#include "transport/core/completion_queue.h"
#include "transport/edge/edge.h"
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
  // Copies the first bytes of the next message of a stream that no receive is posted for; how many.
  static size_t Peek(InStream* in, ByteSpan head);
  // Ends those whose messages are there. True if there was one.
  bool TakeArrivals();
  // Gives a lease back.
  void Release(const Lease& lease);
  // The streams of the group, which is closed, expect nothing any more.
  void Forget(const Group* group);
  // Takes what is there, and then ends all that lost peers were to send.
  void FailLost();

 private:
  struct Leased {
    InStream* in = nullptr;
    InEdge::Receipt receipt;
    bool piece = false;
  };

  // REQUIRES: `slot` is the next of the stream.
  void Match(InStream* in, const Slot* slot, const InStream::Receive& receive);
  uint64_t Lend(const Leased& leased);  // a token
  void Fail(InStream* in, const Status& status);

  CompletionQueue* const completions_;
  std::vector<InStream*> expecting_;  // with receives posted
  std::vector<Leased> leased_;
  std::vector<uint64_t> free_leases_;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_RECEIVES_H_
