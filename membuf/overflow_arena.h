// OverflowArena: ordinary memory for sends that must return to their caller when special memory is
// used up.
//
// A send of the BLACS returns independently of the receiver. Beyond the bounded pool the rest of
// the message is stored here, counted, and limited if the user has set a limit. Freed blocks are
// kept for reuse up to a bound, because fresh pages cost more than the copy into them. Small ones
// share a block, so that a million short messages take little more than their bytes.
//
// Not thread-safe.

#ifndef BRIGADE_MEMBUF_OVERFLOW_ARENA_H_
#define BRIGADE_MEMBUF_OVERFLOW_ARENA_H_

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/memory_domain.h"
#include "membuf/overflow_budget.h"

namespace brigade {

class OverflowArena {
 public:
  static constexpr size_t kAvailableMemory = OverflowBudget::kAvailableMemory;

  // Blocks in use are charged to `budget`. They are allocated from `domain`, which must outlive the
  // arena, or from the heap if it is null.
  explicit OverflowArena(std::shared_ptr<OverflowBudget> budget, MemoryDomain* domain = nullptr);
  // Makes an arena with a budget of its own.
  explicit OverflowArena(size_t limit_bytes, MemoryDomain* domain = nullptr)
      : OverflowArena(std::make_shared<OverflowBudget>(limit_bytes), domain) {}
  // REQUIRES: every block was released.
  ~OverflowArena();

  // Returns a block of at least `bytes`, aligned to 64 bytes, with unspecified content and, if it
  // is new, untouched pages; or an empty span if the limit is reached or the system has no more
  // memory. Charged sizes: (1) from 4 KiB on, whole pages of 4 KiB, and for large blocks one of
  // four sizes for each power of two; (2) below 4 KiB, multiples of 64 bytes, cut in order from
  // blocks of 16 KiB, each of which is charged while any part of it is in use; (3) 4 KiB for a
  // smaller block, if the limit leaves no room for another block of 16 KiB.
  ByteSpan TryAcquire(size_t bytes);
  // REQUIRES: `block` came from TryAcquire and was not released since.
  void Release(ByteSpan block);
  // Like Release, but the block is not used again: a peer may still read it. It is freed with the
  // arena, or with the arena's domain.
  void Retire(ByteSpan block);

  // Returns kept blocks to the system.
  void Trim();

  // Returns the budget's statistics.
  const OverflowStatistics& statistics() const { return budget_->statistics(); }
  // Bytes of released blocks held for reuse; at most 64 MiB.
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  // A block from which small ones are cut.
  struct Shared {
    ByteSpan block;
    size_t cut_bytes = 0;
    int in_use = 0;
    bool retired = false;  // a part of it is
  };

  ByteSpan TryAcquireWhole(size_t bytes);
  void ReleaseWhole(ByteSpan block);
  // Ends a part; the block goes with the last one.
  void EndPart(ByteSpan part, bool retire);
  void RetireWhole(ByteSpan block);
  void End(ByteSpan block);
  std::byte* Allocate(size_t bytes);
  void Free(std::byte* block, size_t bytes);

  const std::shared_ptr<OverflowBudget> budget_;
  MemoryDomain* const domain_;
  std::map<size_t, std::vector<std::byte*>> kept_;  // by size
  size_t kept_bytes_ = 0;
  std::map<const std::byte*, Shared> shared_;  // by where they begin
  Shared* cutting_ = nullptr;                  // one of shared_
  std::vector<std::byte*> retired_;
  size_t in_use_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_OVERFLOW_ARENA_H_
