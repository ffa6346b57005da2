#include "transport/edge/edge_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/rules.h"

namespace brigade {
namespace {

constexpr size_t kCacheLineBytes = 64;
const auto kPageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));  // that an extension takes

size_t RoundToLines(size_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

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
      // The rest of the old extent is smaller than a block, and lost.
      const size_t extent = std::max(kExtentBytes, wanted);
      uint64_t offset = 0;
      failure_ = segment_->Allocate(extent, &offset);
      if (!failure_.ok()) return nullptr;
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

RingExtension* EdgeMemory::NewExtension(bool beyond_limit) {
  const bool is_overflow = extension_bytes_ >= kSetAsideBytes;
  const bool fresh = free_extensions_.empty();
  if (is_overflow && !beyond_limit && !budget_->MayTake(kPageBytes, fresh)) return nullptr;
  void* extension = nullptr;
  if (!fresh) {
    extension = free_extensions_.back();
    free_extensions_.pop_back();
    std::memset(extension, 0, sizeof(RingExtension));
  } else {
    uint64_t offset = 0;
    if (!segment_->Allocate(kPageBytes, &offset).ok()) {
      budget_->CountRefusal();
      return nullptr;
    }
    extension = segment_->base() + offset;
  }
  if (is_overflow) budget_->Take(kPageBytes);
  extension_bytes_ += kPageBytes;
  in_use_bytes_ += sizeof(RingExtension);
  return static_cast<RingExtension*>(extension);
}

void EdgeMemory::FreeExtension(RingExtension* extension) {
  if (extension_bytes_ > kSetAsideBytes) budget_->Return(kPageBytes);
  extension_bytes_ -= kPageBytes;
  in_use_bytes_ -= sizeof(RingExtension);
  if (free_extensions_.size() * kPageBytes < kSetAsideBytes) {
    free_extensions_.push_back(extension);
  } else {
    segment_->Free(OffsetOf(extension), kPageBytes);
  }
}

WideRing* EdgeMemory::NewWideRing() {
  uint64_t offset = 0;
  if (wide_bytes_ + sizeof(WideRing) > rules::kShmMostWideBytes ||
      !segment_->Allocate(sizeof(WideRing), &offset).ok()) {
    return nullptr;
  }
  wide_bytes_ += sizeof(WideRing);
  in_use_bytes_ += sizeof(WideRing);
  return reinterpret_cast<WideRing*>(segment_->base() + offset);
}

void EdgeMemory::FreeWideRing(WideRing* ring) {
  wide_bytes_ -= sizeof(WideRing);
  in_use_bytes_ -= sizeof(WideRing);
  segment_->Free(OffsetOf(ring), sizeof(WideRing));
}

void EdgeMemory::SetBudget(std::shared_ptr<OverflowBudget> budget) {
  const size_t overflow_bytes = extension_bytes_ - std::min(extension_bytes_, kSetAsideBytes);
  budget_->Return(overflow_bytes);
  budget_ = std::move(budget);
  if (overflow_bytes > 0) budget_->Take(overflow_bytes);
}

}  // namespace brigade
