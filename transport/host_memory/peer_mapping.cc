#include "transport/host_memory/peer_mapping.h"

#include <algorithm>

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

}  // namespace

size_t ExtentOf(const RemoteStretches& stretches) {
  const uint64_t last = stretches.bytes - 1;
  return last / stretches.stretch_bytes * stretches.stride_bytes + last % stretches.stretch_bytes +
         1;
}

bool GoesInOneCopy(const StridedLayout& a, const StridedLayout& b) {
  return a.plain() || b.plain() || HaveEqualRuns(a, b) ||
         std::min(a.run_bytes(), b.run_bytes()) >= rules::kLeastUnequalRunBytes;
}

std::byte* PeerMapping::Map(RemoteStretches memory, size_t bytes,
                            const SharedSegment::Address& segment, uint64_t offset) {
  if (!(segment == address_)) {
    address_ = segment;
    segment_ = nullptr;
    (void)SharedSegment::Open(address_, &segment_);
  }
  if (segment_ == nullptr) return nullptr;
  memory.bytes = bytes;
  return segment_->At(offset, ExtentOf(memory));
}

bool PeerMapping::CopyTo(const RemoteStretches& to, const SharedSegment::Address& segment,
                         uint64_t offset, const StridedLayout& layout, const std::byte* base,
                         size_t from) {
  StridedLayout theirs;
  if (!AsLayout(to, layout.bytes(), &theirs) || !GoesInOneCopy(layout, theirs)) return false;
  std::byte* const memory = Map(to, layout.bytes(), segment, offset);
  if (memory == nullptr) return false;
  CopyAcross(layout, base, theirs, memory, from, layout.bytes() - from);
  return true;
}

const std::byte* PeerMapping::Find(const RemoteStretches& from,
                                   const SharedSegment::Address& segment, uint64_t offset,
                                   StridedLayout* layout) {
  return AsLayout(from, from.bytes, layout) ? Map(from, from.bytes, segment, offset) : nullptr;
}

}  // namespace brigade
