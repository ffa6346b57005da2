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
#include <cstdint>
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

  // Blocks in use count in `budget`. They come from `domain`, which must outlive the arena, or from
  // the heap if it is null.
  explicit OverflowArena(std::shared_ptr<OverflowBudget> budget, MemoryDomain* domain = nullptr);
  // With a budget of its own.
  explicit OverflowArena(size_t limit_bytes, MemoryDomain* domain = nullptr)
      : OverflowArena(std::make_shared<OverflowBudget>(limit_bytes), domain) {}
  // REQUIRES: every block was released.
  ~OverflowArena();

  // A block of at least `bytes`, aligned to 64 bytes, its content unspecified and its pages not yet
  // touched where they are new; or an empty span if the limit is reached or the system has no more
  // memory. Sizes are rounded up to whole pages of 4 KiB, and large ones to one of four sizes for
  // each power of two, and counted so; those below 4 KiB to a multiple of 64 bytes, cut one after
  // the other from blocks of 16 KiB, each of which counts for as long as any part of it is in use;
  // or to 4 KiB, if the limit leaves no room for another such block.
  ByteSpan TryAcquire(size_t bytes);
  // REQUIRES: `block` came from TryAcquire and was not released since.
  void Release(ByteSpan block);
  // Like Release, but the block is not used again: a peer may still read it. It is freed with the
  // arena, or with the arena's domain.
  void Retire(ByteSpan block);

  // Gives kept blocks back to the system.
  void Trim();

  // The budget's.
  const OverflowStatistics& statistics() const { return budget_->statistics(); }
  // Bytes of released blocks held for reuse; at most 64 MiB.
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  // A block that small ones are cut from.
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
