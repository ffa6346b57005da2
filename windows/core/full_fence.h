// FullFence: what this thread has written is seen by all, in whatever process, before anything that
// it does next.
//
// It orders memory of the user, which others read and write without atomics, so no operation on an
// atomic of ours would do in its place.

#ifndef BRIGADE_WINDOWS_CORE_FULL_FENCE_H_
#define BRIGADE_WINDOWS_CORE_FULL_FENCE_H_

#include <atomic>

namespace brigade {

inline void FullFence() {
  // GCC warns that ThreadSanitizer, which sees one process, knows nothing of fences. Threads of one
  // are in order by the messages that they exchange on either side of it.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_FULL_FENCE_H_
