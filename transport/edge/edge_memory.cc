#include "transport/edge/edge_memory.h"

#include <algorithm>
#include <cstring>

namespace brigade {
namespace {

constexpr size_t kLineBytes = 64;

size_t RoundToLines(size_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes; }

}  // namespace

void* EdgeMemory::Allocate(size_t bytes) {
  const size_t wanted = RoundToLines(bytes);
  std::vector<void*>& reusable = free_[wanted];
  void* block = nullptr;
  if (!reusable.empty()) {
    block = reusable.back();
    reusable.pop_back();
    std::memset(block, 0, wanted);
  } else {
    if (fresh_bytes_ < wanted) {
      // What is left of the old extent is smaller than a block, and lost.
      const size_t extent = std::max(kExtentBytes, wanted);
      uint64_t offset = 0;
      if (!segment_->Allocate(extent, &offset).ok()) return nullptr;
      fresh_ = segment_->base() + offset;
      fresh_bytes_ = extent;
    }
    block = fresh_;
    fresh_ += wanted;
    fresh_bytes_ -= wanted;
  }
  in_use_bytes_ += wanted;
  return block;
}

void EdgeMemory::Free(void* block, size_t bytes) {
  const size_t freed = RoundToLines(bytes);
  in_use_bytes_ -= freed;
  free_[freed].push_back(block);
}

EdgeExtension* EdgeMemory::NewExtension() {
  if (in_use_bytes_ > kMostExtensionBytes) return nullptr;
  return static_cast<EdgeExtension*>(Allocate(sizeof(EdgeExtension)));
}

}  // namespace brigade
