// AttachedRanges: which memory of a process is attached to a dynamic window, in a table that all
// members of its host can look at. Zeroed memory is a table of none.

#ifndef BRIGADE_WINDOWS_MEMORY_ATTACHED_RANGES_H_
#define BRIGADE_WINDOWS_MEMORY_ATTACHED_RANGES_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/cache_line.h"
#include "windows/sync/process_lock.h"

namespace brigade {

// A handle.
class AttachedRanges {
 public:
  static constexpr size_t kMost = 4096;
  static size_t Bytes() { return sizeof(Table); }
  // REQUIRES: `memory` begins a cache line, and outlives the handle.
  explicit AttachedRanges(std::byte* memory) : table_(reinterpret_cast<Table*>(memory)) {}

  // Held by the owner while the table changes, and by other processes while they look.
  ProcessLock& changing() const { return table_->changing; }

  // Of the owner. kInvalidArgument: it overlaps what is attached; kOutOfMemory: the table is full.
  Status Attach(const std::byte* memory, size_t bytes) const;
  // Of the owner. kInvalidArgument: nothing that is attached begins there.
  Status Detach(const std::byte* memory) const;
  // Whether all of `count` values at `address` is attached.
  bool Hold(const TypedLayout& layout, int64_t count, int64_t address) const;

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
  };
  struct Table {
    alignas(kCacheLineBytes) ProcessLock changing;
    uint64_t count;
    Range ranges[kMost];  // in the order of their addresses
  };

  size_t count() const;
  // The first that ends behind `address`.
  Range* FirstBehind(uint64_t address) const;
  bool HoldRun(int64_t begin, int64_t end) const;

  Table* table_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_ATTACHED_RANGES_H_
