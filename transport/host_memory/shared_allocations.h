// SharedAllocations: user memory that lies in shared segments of this process, so that the ranks of
// the host can map it: a window over it is as fast as one that was allocated, and a message to it
// takes one copy. Thread-safe.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "membuf/available_memory.h"
#include "membuf/status.h"
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

  // Whole pages, one at least; what is in them is unspecified. kOutOfMemory: the system has not so
  // much left. kUnavailable: what it has cannot be shared.
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
    size_t bytes = 0;  // of whole pages
  };

  static const int fork_handlers_;

  // A forked child takes nothing from the segments of its parent, who does not know of it.
  void LeaveToParent();
  bool TakeKept(size_t bytes, Block* block);
  // As Allocate.
  Status TakeNew(size_t bytes, Block* block);
  // For another allocation, or back to the system.
  void Keep(Block block);

  const bool overcommits_;
  std::mutex mutex_;
  AvailableShare available_;             // the system would rather end processes than refuse
  std::shared_ptr<SharedSegment> last_;  // the one that new memory is taken from
  std::map<const std::byte*, Block> blocks_;
  std::atomic<bool> has_blocks_{false};  // so that those who have none pay for no lock
  std::deque<Block> kept_;               // freed, the last at the end
  size_t kept_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_ALLOCATIONS_H_
