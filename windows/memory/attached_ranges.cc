#include "windows/memory/attached_ranges.h"

#include <algorithm>
#include <string>

#include "windows/layout/layout_cursor.h"

namespace brigade {
namespace {

uint64_t AddressOf(const std::byte* memory) { return reinterpret_cast<uint64_t>(memory); }

}  // namespace

// Another process wrote it.
size_t AttachedRanges::count() const { return std::min<uint64_t>(table_->count, kMost); }

AttachedRanges::Range* AttachedRanges::FirstBehind(uint64_t address) const {
  return std::partition_point(table_->ranges, table_->ranges + count(),
                              [&](const Range& range) { return range.end <= address; });
}

Status AttachedRanges::Attach(const std::byte* memory, size_t bytes) const {
  const Range added{AddressOf(memory), AddressOf(memory) + bytes};
  if (bytes == 0) return Status();
  Range* const end = table_->ranges + count();
  Range* const place = FirstBehind(added.begin);
  if (added.end < added.begin || (place != end && place->begin < added.end)) {
    return {StatusCode::kInvalidArgument,
            std::to_string(bytes) + " bytes are attached that overlap what is attached already"};
  }
  if (count() == kMost) {
    return {StatusCode::kOutOfMemory,
            "more than " + std::to_string(kMost) + " parts of memory attached to one window"};
  }
  std::move_backward(place, end, end + 1);
  *place = added;
  ++table_->count;
  return Status();
}

Status AttachedRanges::Detach(const std::byte* memory) const {
  Range* const end = table_->ranges + count();
  Range* const place = FirstBehind(AddressOf(memory));
  if (place == end || place->begin != AddressOf(memory)) {
    return {StatusCode::kInvalidArgument, "memory is detached that is not attached, or not there"};
  }
  std::move(place + 1, end, place);
  --table_->count;
  return Status();
}

bool AttachedRanges::HoldRun(int64_t begin, int64_t end) const {
  if (begin < 0 || end < begin) return false;
  auto from = static_cast<uint64_t>(begin);
  const Range* const last = table_->ranges + count();
  // Neighbours may have been attached one by one.
  for (const Range* range = FirstBehind(from); range != last && range->begin <= from; ++range) {
    from = range->end;
    if (from >= static_cast<uint64_t>(end)) return true;
  }
  return begin == end;
}

bool AttachedRanges::Hold(const TypedLayout& layout, int64_t count, int64_t address) const {
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (!layout.Bounds(count, &low, &high, &bytes) || __builtin_add_overflow(address, low, &low) ||
      __builtin_add_overflow(address, high, &high)) {
    return false;
  }
  if (HoldRun(low, high)) return true;
  // There may be gaps between its runs.
  LayoutCursor at(&layout, count);
  for (int64_t left = bytes; left > 0;) {
    const Runs runs = at.Next();
    const int64_t run = std::min(runs.bytes, left);
    const int64_t begin = address + runs.offset;
    if (!HoldRun(begin, begin + run)) return false;
    at.Skip(run);
    left -= run;
  }
  return true;
}

}  // namespace brigade
