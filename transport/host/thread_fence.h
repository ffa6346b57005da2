// ThreadFence: a fence for two threads of a process that each store one word and then read the
// other's: one of them on a fast path.
//
// The fast side only orders the compiler. The slow side has the system execute a full fence on all
// threads of the process (membarrier): either before the fast side's read, which then sees the slow
// side's store, or after its store, which the slow side then sees.

#ifndef BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_
#define BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_

#include <atomic>

namespace brigade {

class ThreadFence {
 public:
  // Without membarrier both sides fence.
  ThreadFence();

  // The fast side, between its store and its read.
  void Light() const {
    if (by_system_.load(std::memory_order_relaxed)) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      Full();
    }
  }
  // The slow side, between its store and its read.
  void Heavy();

 private:
  static void Full();

  std::atomic<bool> by_system_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_
