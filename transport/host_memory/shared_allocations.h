// SharedAllocations: user memory that lies in shared segments of this process, so that the ranks of
// the host can map it: a window over it is as fast as one that was allocated, and a message to it
// takes one copy. Allocations of up to half a page share pages. Thread-safe.

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
  // Of this process, for as long as it lives. It forks between two calls of these.
  static SharedAllocations& Here();

  // Whether the system `overcommits` says when memory is charged: SharedSegment::AllocateForUser.
  explicit SharedAllocations(bool overcommits = MayOvercommit());
  SharedAllocations(const SharedAllocations&) = delete;
  SharedAllocations& operator=(const SharedAllocations&) = delete;

  // Memory with unspecified contents: a slot of PageSlots, aligned to its length, or whole pages.
  // kOutOfMemory: the system has not so much left. kUnavailable: what it has cannot be shared.
  Status Allocate(size_t bytes, void** memory);
  // False: it is none of these.
  bool Free(void* memory);
  // The segment that all of it lies in. Null: it is not all in one of these allocations.
  std::shared_ptr<SharedSegment> Find(const void* memory, size_t bytes);
  // How often the system was asked what it has left, which takes longer than a little memory does.
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

  // A forked child takes nothing from the segments of its parent, who does not know of it.
  void LeaveToParent();
  bool TakeKept(size_t bytes, Block* block);
  // As Allocate, of whole pages.
  Status TakeNew(size_t bytes, Block* block);
  // The pages for so many bytes, which are in blocks_ then.
  Status AddBlock(size_t bytes, Block** added);
  // The block that the byte at `memory` lies in, or end().
  Blocks::iterator FindBlock(const std::byte* memory);
  // For another allocation, or back to the system.
  void Keep(Block block);

  const bool overcommits_;
  std::mutex mutex_;
  AvailableShare available_;             // the system would rather end processes than refuse
  std::shared_ptr<SharedSegment> last_;  // the one that new memory is taken from
  Blocks blocks_;
  std::map<size_t, std::set<Block*>> unfilled_;  // with slots that are free, by their length
  std::atomic<bool> has_blocks_{false};          // so that those who have none pay for no lock
  std::deque<Block> kept_;                       // freed, the last at the end
  size_t kept_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_
