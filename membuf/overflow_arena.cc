#include "membuf/overflow_arena.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kAlignmentBytes = 64;
constexpr size_t kMostKeptBytes = size_t{64} << 20;
constexpr size_t kMostAllowanceBytes = size_t{64} << 20;

// What the kernel says it could still give without swapping; 0 if it does not say.
size_t AvailableBytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/meminfo", "re"),
                                                             std::fclose);
  if (file == nullptr) return 0;
  char line[128];
  while (std::fgets(line, sizeof line, file.get()) != nullptr) {
    unsigned long long kib;
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) return size_t{kib} << 10;
  }
  return 0;
}

}  // namespace

OverflowArena::OverflowArena(size_t limit_bytes, size_t block_bytes)
    : limit_bytes_(limit_bytes), block_bytes_(block_bytes) {
  BRIGADE_CHECK_LT(size_t{0}, block_bytes);
}

OverflowArena::~OverflowArena() {
  BRIGADE_CHECK_EQ(statistics_.in_use_bytes, size_t{0});
  Trim();
}

// Asks for a share of what is available, not for all of it: the other ranks of this machine see
// the same figure, and blocks already granted but not yet written to are still counted in it.
bool OverflowArena::MayGrow() {
  if (limit_bytes_ != kAvailableMemory) return true;
  if (allowance_bytes_ < block_bytes_) {
    allowance_bytes_ = std::min(AvailableBytes() / 8, std::max(kMostAllowanceBytes, block_bytes_));
  }
  if (allowance_bytes_ < block_bytes_) return false;
  allowance_bytes_ -= block_bytes_;
  return true;
}

ByteSpan OverflowArena::TryAcquire() {
  std::byte* data = nullptr;
  if (block_bytes_ <= limit_bytes_ - statistics_.in_use_bytes) {
    if (!kept_.empty()) {
      data = kept_.back();
      kept_.pop_back();
    } else if (void* fresh = nullptr;
               MayGrow() && posix_memalign(&fresh, kAlignmentBytes, block_bytes_) == 0) {
      data = static_cast<std::byte*>(fresh);
    }
  }
  if (data == nullptr) {
    ++statistics_.refusals;
    return ByteSpan();
  }
  ++statistics_.blocks;
  statistics_.in_use_bytes += block_bytes_;
  statistics_.high_water_bytes = std::max(statistics_.high_water_bytes, statistics_.in_use_bytes);
  return ByteSpan{data, block_bytes_};
}

void OverflowArena::Release(ByteSpan block) {
  BRIGADE_CHECK_EQ(block.bytes, block_bytes_);
  BRIGADE_CHECK_LE(block_bytes_, statistics_.in_use_bytes);
  statistics_.in_use_bytes -= block_bytes_;
  if (kept_.size() < kMostKeptBytes / block_bytes_) {
    kept_.push_back(block.data);
  } else {
    std::free(block.data);
  }
}

void OverflowArena::Trim() {
  for (std::byte* block : kept_) std::free(block);
  kept_.clear();
}

}  // namespace brigade
