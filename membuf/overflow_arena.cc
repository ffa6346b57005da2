#include "membuf/overflow_arena.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kAlignmentBytes = 64;
constexpr size_t kLeastBlockBytes = size_t{4} << 10;
constexpr size_t kSharedBytes = size_t{16} << 10;
constexpr size_t kMostKeptBytes = size_t{64} << 20;
constexpr size_t kMostAllowanceBytes = size_t{64} << 20;

size_t BlockBytes(size_t bytes) {
  size_t block = kLeastBlockBytes;
  while (block < bytes) block *= 2;
  return block;
}

// What the kernel says it could still give without swapping. Where it does not say, the allocator
// decides alone.
size_t AvailableBytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/meminfo", "re"),
                                                             std::fclose);
  if (file == nullptr) return SIZE_MAX;
  char line[128];
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    unsigned long long kib;
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) return size_t{kib} << 10;
  }
  return SIZE_MAX;
}

}  // namespace

OverflowArena::OverflowArena(size_t limit_bytes, MemoryDomain* domain)
    : limit_bytes_(limit_bytes), domain_(domain) {}

OverflowArena::~OverflowArena() {
  BRIGADE_CHECK_EQ(statistics_.in_use_bytes, size_t{0});
  Trim();
  if (domain_ == nullptr) {
    for (std::byte* block : retired_) std::free(block);
  }
}

// Asks for a share of what is available, not for all of it: the other ranks of this machine see
// the same figure, and blocks already granted but not yet written to are still counted in it.
bool OverflowArena::MayGrow(size_t bytes) {
  if (limit_bytes_ != kAvailableMemory) return true;
  if (allowance_bytes_ < bytes) {
    allowance_bytes_ = std::min(AvailableBytes() / 8, std::max(kMostAllowanceBytes, bytes));
  }
  if (allowance_bytes_ < bytes) return false;
  allowance_bytes_ -= bytes;
  return true;
}

ByteSpan OverflowArena::TryAcquire(size_t bytes) {
  const size_t part_bytes =
      (std::max<size_t>(bytes, 1) + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  if (part_bytes >= kLeastBlockBytes) return TryAcquireWhole(bytes);
  if (cutting_ == nullptr || part_bytes > kSharedBytes - cutting_->cut_bytes) {
    const bool is_last = kSharedBytes > limit_bytes_ - statistics_.in_use_bytes;
    if (is_last) return TryAcquireWhole(bytes);
    const ByteSpan block = TryAcquireWhole(kSharedBytes);
    if (block.data == nullptr) return ByteSpan();
    cutting_ = &shared_[block.data];
    cutting_->block = block;
  }
  const ByteSpan part{cutting_->block.data + cutting_->cut_bytes, part_bytes};
  cutting_->cut_bytes += part_bytes;
  ++cutting_->in_use;
  return part;
}

ByteSpan OverflowArena::TryAcquireWhole(size_t bytes) {
  const size_t block_bytes = BlockBytes(bytes);
  std::byte* data = nullptr;
  if (block_bytes <= limit_bytes_ - statistics_.in_use_bytes) {
    std::vector<std::byte*>& kept = kept_[block_bytes];
    if (!kept.empty()) {
      data = kept.back();
      kept.pop_back();
      kept_bytes_ -= block_bytes;
    } else if (MayGrow(block_bytes)) {
      data = Allocate(block_bytes);
    }
  }
  if (data == nullptr) {
    ++statistics_.refusals;
    return ByteSpan();
  }
  ++statistics_.blocks;
  statistics_.in_use_bytes += block_bytes;
  statistics_.high_water_bytes = std::max(statistics_.high_water_bytes, statistics_.in_use_bytes);
  return ByteSpan{data, block_bytes};
}

void OverflowArena::Release(ByteSpan block) {
  if (block.bytes < kLeastBlockBytes) {
    EndPart(block, /*retire=*/false);
  } else {
    ReleaseWhole(block);
  }
}

void OverflowArena::Retire(ByteSpan block) {
  if (block.bytes < kLeastBlockBytes) {
    EndPart(block, /*retire=*/true);
  } else {
    RetireWhole(block);
  }
}

void OverflowArena::EndPart(ByteSpan part, bool retire) {
  auto found = shared_.upper_bound(part.data);
  BRIGADE_CHECK(found != shared_.begin());
  Shared& shared = (--found)->second;
  BRIGADE_CHECK_LE(part.data + part.bytes, shared.block.data + shared.cut_bytes);
  shared.retired |= retire;
  if (--shared.in_use > 0) return;
  if (shared.retired) {
    RetireWhole(shared.block);
  } else {
    ReleaseWhole(shared.block);
  }
  if (cutting_ == &shared) cutting_ = nullptr;
  shared_.erase(found);
}

void OverflowArena::ReleaseWhole(ByteSpan block) {
  BRIGADE_CHECK_EQ(block.bytes, BlockBytes(block.bytes));
  BRIGADE_CHECK_LE(block.bytes, statistics_.in_use_bytes);
  statistics_.in_use_bytes -= block.bytes;
  if (kept_bytes_ + block.bytes <= kMostKeptBytes) {
    kept_[block.bytes].push_back(block.data);
    kept_bytes_ += block.bytes;
  } else {
    Free(block.data, block.bytes);
  }
}

void OverflowArena::RetireWhole(ByteSpan block) {
  statistics_.in_use_bytes -= block.bytes;
  retired_.push_back(block.data);
}

std::byte* OverflowArena::Allocate(size_t bytes) {
  if (domain_ != nullptr) {
    ByteSpan block;
    return domain_->Allocate(/*placement=*/0, bytes, &block).ok() ? block.data : nullptr;
  }
  void* block = nullptr;
  return posix_memalign(&block, kAlignmentBytes, bytes) == 0 ? static_cast<std::byte*>(block)
                                                             : nullptr;
}

void OverflowArena::Free(std::byte* block, size_t bytes) {
  if (domain_ != nullptr) {
    domain_->Free({block, bytes});
  } else {
    std::free(block);
  }
}

void OverflowArena::Trim() {
  for (const auto& [bytes, blocks] : kept_) {
    for (std::byte* block : blocks) Free(block, bytes);
  }
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace brigade
