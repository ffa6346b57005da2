// EdgeMemory: small blocks of a rank's own shared segment, for edges and the tables by which peers
// find them.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_MEMORY_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "membuf/overflow_budget.h"
#include "membuf/status.h"
#include "transport/edge/ring_memory.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class EdgeMemory {
 public:
  // `segment` must outlive the memory.
  explicit EdgeMemory(SharedSegment* segment) : segment_(segment) {}
  EdgeMemory(const EdgeMemory&) = delete;
  EdgeMemory& operator=(const EdgeMemory&) = delete;

  // Allocates zeroed memory, aligned to a cache line; null if the shared segment has no memory
  // left, with the reason in failure(). Freed blocks are kept for reuse.
  void* Allocate(size_t bytes);
  const Status& failure() const { return failure_; }
  void Free(void* block, size_t bytes);
  // Allocates a zeroed extension: a page that returns to the system once it is free. Extensions
  // beyond kSetAsideBytes count as overflow memory. Null: no memory is left, or, unless
  // `beyond_limit`, the limit is reached.
  RingExtension* NewExtension(bool beyond_limit = false);
  void FreeExtension(RingExtension* extension);
  // Allocates a zeroed wide ring; null if there is no memory left for wide rings. They do not count
  // as overflow memory: a rank has few of them.
  WideRing* NewWideRing();
  void FreeWideRing(WideRing* ring);
  // Sets the budget for overflow memory.
  void SetBudget(std::shared_ptr<OverflowBudget> budget);

  uint64_t OffsetOf(const void* block) const {
    return static_cast<uint64_t>(static_cast<const std::byte*>(block) - segment_->base());
  }
  size_t in_use_bytes() const { return in_use_bytes_; }

 private:
  static constexpr size_t kSetAsideBytes = size_t{1} << 20;
  static constexpr size_t kMostWithoutBudgetBytes = size_t{64} << 20;
  static constexpr size_t kExtentBytes = size_t{16} << 10;

  SharedSegment* const segment_;
  std::map<size_t, std::vector<void*>> free_;  // by size
  std::byte* fresh_ = nullptr;                 // of an extent, not yet handed out
  size_t fresh_bytes_ = 0;
  size_t in_use_bytes_ = 0;
  Status failure_;
  std::vector<RingExtension*> free_extensions_;  // kSetAsideBytes at most
  size_t extension_bytes_ = 0;                   // in use
  size_t wide_bytes_ = 0;                        // in use
  std::shared_ptr<OverflowBudget> budget_ =
      std::make_shared<OverflowBudget>(kMostWithoutBudgetBytes);
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_MEMORY_H_
