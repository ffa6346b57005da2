// OverflowArena: ordinary memory for sends that must return to their caller when special memory is
// used up.
//
// BLACS promises that a send returns whatever the receiver does. With a bounded pool the rest of
// the message has to go somewhere: here, counted, and limited if the user says so. Freed blocks are
// kept for reuse up to a bound, because fresh pages cost more than the copy into them.
//
// Not thread-safe.

#ifndef BRIGADE_MEMBUF_OVERFLOW_ARENA_H_
#define BRIGADE_MEMBUF_OVERFLOW_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/byte_span.h"

namespace brigade {

struct OverflowStatistics {
  size_t in_use_bytes = 0;
  size_t high_water_bytes = 0;
  uint64_t blocks = 0;    // handed out since creation
  uint64_t refusals = 0;  // a limit said no
};

class OverflowArena {
 public:
  // The limit "as much as is available": asks the system for the memory it could still give before
  // growing.
  static constexpr size_t kAvailableMemory = SIZE_MAX;

  // `limit_bytes`: most bytes in use at once. `block_bytes`: size of every block. Blocks are
  // aligned to 64 bytes.
  OverflowArena(size_t limit_bytes, size_t block_bytes);
  // REQUIRES: every block was released.
  ~OverflowArena();

  // A block, its content unspecified and its pages not yet touched where they are new; or an empty
  // span if the limit is reached or the system has no more memory.
  ByteSpan TryAcquire();
  // REQUIRES: `block` came from TryAcquire and was not released since.
  void Release(ByteSpan block);

  // Gives kept blocks back to the system.
  void Trim();

  size_t limit_bytes() const { return limit_bytes_; }
  // Bytes of released blocks held for reuse; at most 64 MiB.
  size_t kept_bytes() const { return kept_.size() * block_bytes_; }
  const OverflowStatistics& statistics() const { return statistics_; }

 private:
  bool MayGrow();

  const size_t limit_bytes_;
  const size_t block_bytes_;
  std::vector<std::byte*> kept_;
  size_t allowance_bytes_ = 0;  // what may still be allocated before asking the system again
  OverflowStatistics statistics_;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_OVERFLOW_ARENA_H_
