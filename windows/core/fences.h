// Fences between memory of the user, which others read and write without atomics, and what a window
// does: no operation on an atomic of ours would do in their place.

#ifndef BRIGADE_WINDOWS_CORE_FENCES_H_
#define BRIGADE_WINDOWS_CORE_FENCES_H_

#include <atomic>

namespace brigade {

// GCC warns that ThreadSanitizer, which sees one process, knows nothing of fences. Threads of one
// are in order by the messages that they exchange on either side of it.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

// Makes all earlier writes of this thread visible to every process before its next read or write.
inline void FullFence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// Completes all earlier reads of this thread before its next read or write.
inline void LoadFence() { std::atomic_thread_fence(std::memory_order_acquire); }

#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic pop
#endif

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_FENCES_H_
