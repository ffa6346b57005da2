// ThreadFence: the fence between two threads of a process of which each stores one word and then
// looks at the other's, where one of them is in a hurry and the other is not.
//
// The one in a hurry keeps the order for the compiler only. The other has the system make all
// threads of the process execute a full fence (membarrier): before the hurried one's look, which
// then sees what the other has stored, or behind its store, which the other then sees.

#ifndef BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_
#define BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_

#include <atomic>

namespace brigade {

class ThreadFence {
 public:
  // Where the system does not do that, both sides fence.
  ThreadFence();

  // Between the store and the look of the one in a hurry.
  void Light() const {
    if (by_system_.load(std::memory_order_relaxed)) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      Full();
    }
  }
  // Of the other.
  void Heavy();

 private:
  static void Full();

  std::atomic<bool> by_system_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_THREAD_FENCE_H_
