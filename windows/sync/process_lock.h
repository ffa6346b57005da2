// ProcessLock: a lock word in memory that several processes map. Zeroed memory is a free one.
//
// It names its holder. How to wait is the caller's affair, for it must notice failures meanwhile.

#ifndef BRIGADE_WINDOWS_SYNC_PROCESS_LOCK_H_
#define BRIGADE_WINDOWS_SYNC_PROCESS_LOCK_H_

#include <atomic>
#include <cstdint>

namespace brigade {

class ProcessLock {
 public:
  // `rank` takes it, unless somebody has it.
  bool TryLock(int rank) {
    uint32_t free = 0;
    // A look first: who finds it taken must not take its line from the holder.
    return word_.load(std::memory_order_relaxed) == free &&
           word_.compare_exchange_strong(free, static_cast<uint32_t>(rank) + 1,
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }
  void Unlock() { word_.store(0, std::memory_order_release); }
  // -1: none.
  int holder() const { return static_cast<int>(word_.load(std::memory_order_relaxed)) - 1; }

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free, "processes share it");
  std::atomic<uint32_t> word_{0};  // the holder's rank + 1
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_SYNC_PROCESS_LOCK_H_
