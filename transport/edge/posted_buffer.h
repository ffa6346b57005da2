// PostedBuffer: user memory in which the receiver of an edge waits for its next message.
//
// The receiver posts it, the sender claims it and copies there: one copy in place of two. The state
// word decides between a sender that claims and a receiver that withdraws, so neither waits for the
// other, but for a copy that has begun.

#ifndef BRIGADE_TRANSPORT_EDGE_POSTED_BUFFER_H_
#define BRIGADE_TRANSPORT_EDGE_POSTED_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "membuf/strided_layout.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

// In shared memory: the receiver writes all of it but the claim. `number`: of the message.
struct alignas(64) PostedBuffer {
  enum State : uint64_t { kPosted, kClaimed };
  static uint64_t StateOf(uint64_t number, State state) { return (number + 1) << 1 | state; }

  // 0: none is posted. Else StateOf its message.
  std::atomic<uint64_t> state;
  RemoteStretches memory;
  // Where in a shared segment it begins, if it lies in one; else 0, and it is where its address
  // says.
  uint64_t offset;
  alignas(64) SharedSegment::Address segment;

  // --- the receiver ---
  // Posts a matrix that lies in memory of SharedAllocations, or to which the kernel is to copy.
  // False: nothing is posted. A buffer whose message has come need not be withdrawn: it is posted
  // for that message alone.
  bool Post(uint64_t number, const StridedLayout& layout, std::byte* base,
            const KernelCopyRange& by_kernel);
  // False if the sender has claimed it: the message comes, unless the sender is lost. True: nothing
  // is written there afterwards.
  bool Withdraw(uint64_t number);

  // Whether ranks with such a matrix post it. Ranks of a call mostly have memory of one kind.
  static bool IsFor(const StridedLayout& layout, const std::byte* base,
                    const KernelCopyRange& by_kernel);

  // --- the sender ---
  bool IsPosted(uint64_t number) const {
    return state.load(std::memory_order_relaxed) == StateOf(number, kPosted);
  }
  bool Claim(uint64_t number);
  // The copy has failed, and the message goes another way. REQUIRES: it is claimed.
  void Unclaim(uint64_t number) {
    state.store(StateOf(number, kPosted), std::memory_order_release);
  }
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_POSTED_BUFFER_H_
