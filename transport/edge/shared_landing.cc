#include "transport/edge/shared_landing.h"

#include <algorithm>

#include "membuf/copy_routine.h"
#include "membuf/pack.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

// The first `bytes` of `to`, as a layout; false if that is none.
bool AsLayout(const RemoteStretches& to, size_t bytes, StridedLayout* layout) {
  if (bytes == 0 || bytes > to.bytes || to.stretch_bytes == 0) return false;
  if (bytes <= to.stretch_bytes) {
    *layout = StridedLayout::Contiguous(bytes);
    return true;
  }
  const size_t stretches = (bytes - 1) / to.stretch_bytes + 1;
  return StridedLayout::General(static_cast<int64_t>(to.stretch_bytes),
                                static_cast<int64_t>(stretches),
                                static_cast<int64_t>(to.stride_bytes), 1, layout)
      .ok();
}

bool AreEqualRuns(const StridedLayout& a, const StridedLayout& b) {
  return a.part() == StridedLayout::Part::kGeneral && b.part() == StridedLayout::Part::kGeneral &&
         a.run_bytes() == b.run_bytes();
}

size_t ColumnStride(const StridedLayout& layout) {
  return static_cast<size_t>(layout.ld()) * layout.elem_bytes();
}

// REQUIRES: neither side is plain.
void CopyByRuns(const StridedLayout& from_layout, const std::byte* from,
                const StridedLayout& to_layout, std::byte* to) {
  StridedLayout::Cursor source(from_layout, 0);
  StridedLayout::Cursor target(to_layout, 0);
  for (size_t left = from_layout.bytes(); left > 0;) {
    const StridedLayout::Run run = target.Next();
    const size_t bytes = std::min(run.bytes, left);
    CopyIn(to + run.memory_offset, &source, from, bytes);
    target.Advance(bytes);
    left -= bytes;
  }
}

}  // namespace

size_t ExtentOf(const RemoteStretches& stretches) {
  const uint64_t last = stretches.bytes - 1;
  return last / stretches.stretch_bytes * stretches.stride_bytes + last % stretches.stretch_bytes +
         1;
}

bool SharedLanding::Copy(const StridedLayout& layout, const std::byte* base,
                         const RemoteStretches& to, const SharedSegment::Address& segment,
                         uint64_t offset) {
  StridedLayout landing;
  if (!AsLayout(to, layout.bytes(), &landing)) return false;
  const bool has_equal_runs = AreEqualRuns(layout, landing);
  if (!layout.plain() && !landing.plain() && !has_equal_runs &&
      std::min(layout.run_bytes(), landing.run_bytes()) < rules::kLeastUnequalRunBytes) {
    return false;
  }
  if (!(segment == address_)) {
    address_ = segment;
    segment_ = nullptr;
    (void)SharedSegment::Open(address_, &segment_);
  }
  if (segment_ == nullptr) return false;
  RemoteStretches used = to;
  used.bytes = layout.bytes();
  std::byte* const memory = segment_->At(offset, ExtentOf(used));
  if (memory == nullptr) return false;
  if (landing.plain()) {
    CopyIn(memory, layout, base, 0, layout.bytes());
  } else if (layout.plain()) {
    CopyOut(landing, memory, 0, layout.bytes(), base);
  } else if (has_equal_runs) {
    CopyRowFor(layout.run_bytes())
        .routine({memory, ColumnStride(landing)}, {base, ColumnStride(layout)}, layout.run_bytes(),
                 layout.bytes() / layout.run_bytes());
  } else {
    CopyByRuns(layout, base, landing, memory);
  }
  return true;
}

}  // namespace brigade
