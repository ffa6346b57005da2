// SharedAllocations: user memory in shared segments of this process, so that ranks of the host can
// map it: a window over it is as fast as an allocated one, and a message to it takes one copy.
// Allocations of up to half a page share pages. Thread-safe.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "membuf/available_memory.h"
#include "membuf/status.h"
#include "transport/host_memory/page_slots.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class SharedAllocations {
 public:
  // The instance of this process, which is never destroyed. Forks take place between two calls.
  static SharedAllocations& Here();

  // `overcommits` decides when memory is charged: SharedSegment::AllocateForUser.
  explicit SharedAllocations(bool overcommits = MayOvercommit());
  SharedAllocations(const SharedAllocations&) = delete;
  SharedAllocations& operator=(const SharedAllocations&) = delete;

  // Allocates memory with unspecified contents: a slot of PageSlots, aligned to its length, or
  // whole pages. kOutOfMemory: the system has not enough memory left. kUnavailable: memory cannot
  // be shared.
  Status Allocate(size_t bytes, void** memory);
  // Returns false if `memory` is not an allocation.
  bool Free(void* memory);
  // Returns the segment of this memory. Null: it does not lie in one allocation as a whole.
  std::shared_ptr<SharedSegment> Find(const void* memory, size_t bytes);
  // Returns how often the system's free memory was read, which takes longer than a short
  // allocation.
  int looks() const { return available_.looks(); }

 private:
  struct Block {
    std::shared_ptr<SharedSegment> segment;
    std::byte* memory = nullptr;
    size_t bytes = 0;                  // of whole pages
    std::unique_ptr<PageSlots> slots;  // null: it is one allocation
  };
  using Blocks = std::map<const std::byte*, Block>;

  static const int fork_handlers_;
  static void LockForFork();
  static void UnlockAfterFork();

  // A forked child must not allocate from its parent's segments: the parent would not see it.
  void LeaveToParent();
  bool TakeKept(size_t bytes, Block* block);
  // Like Allocate, for whole pages.
  Status TakeNew(size_t bytes, Block* block);
  // Adds a block of pages for `bytes` to blocks_.
  Status AddBlock(size_t bytes, Block** added);
  // The block that the byte at `memory` lies in, or end().
  Blocks::iterator FindBlock(const std::byte* memory);
  // Keeps the block for another allocation, or returns it to the system.
  void Keep(Block block);

  const bool overcommits_;
  std::mutex mutex_;
  AvailableShare available_;             // the system ends processes instead of failing
  std::shared_ptr<SharedSegment> last_;  // the one that new memory is taken from
  Blocks blocks_;
  std::map<size_t, std::set<Block*>> unfilled_;  // with slots that are free, by their length
  std::atomic<bool> has_blocks_{false};          // false: Find needs no lock
  std::deque<Block> kept_;                       // freed, the last at the end
  size_t kept_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_
