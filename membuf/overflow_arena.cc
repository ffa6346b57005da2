#include "membuf/overflow_arena.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "membuf/check.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

constexpr size_t kAlignmentBytes = 64;
constexpr size_t kLeastBlockBytes = size_t{4} << 10;
constexpr size_t kSharedBytes = size_t{16} << 10;

// Four sizes for each power of two: a segment and its header take a quarter more, not twice as
// much.
size_t BlockBytes(size_t bytes) {
  size_t power = kLeastBlockBytes;
  while (2 * power < bytes) power *= 2;
  const size_t step = std::max(kLeastBlockBytes, power / 4);
  return std::max(kLeastBlockBytes, (bytes + step - 1) / step * step);
}

}  // namespace

OverflowArena::OverflowArena(std::shared_ptr<OverflowBudget> budget, MemoryDomain* domain)
    : budget_(std::move(budget)), domain_(domain) {}

OverflowArena::~OverflowArena() {
  BRIGADE_CHECK_EQ(in_use_bytes_, size_t{0});
  Trim();
  if (domain_ == nullptr) {
    for (std::byte* block : retired_) std::free(block);
  }
}

ByteSpan OverflowArena::TryAcquire(size_t bytes) {
  const size_t part_bytes =
      (std::max<size_t>(bytes, 1) + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
  if (part_bytes >= kLeastBlockBytes) return TryAcquireWhole(bytes);
  if (cutting_ == nullptr || part_bytes > kSharedBytes - cutting_->cut_bytes) {
    const bool is_last = kSharedBytes > budget_->left_bytes();
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
  std::vector<std::byte*>& kept = kept_[block_bytes];
  if (!budget_->MayTake(block_bytes, /*fresh=*/kept.empty())) return ByteSpan();
  std::byte* data = nullptr;
  if (!kept.empty()) {
    data = kept.back();
    kept.pop_back();
    kept_bytes_ -= block_bytes;
  } else {
    data = Allocate(block_bytes);
  }
  if (data == nullptr) {
    budget_->CountRefusal();
    return ByteSpan();
  }
  budget_->Take(block_bytes);
  in_use_bytes_ += block_bytes;
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
  BRIGADE_CHECK(part.data + part.bytes <= shared.block.data + shared.cut_bytes);
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
  End(block);
  if (kept_bytes_ + block.bytes <= rules::kMostKeptOverflowBytes) {
    kept_[block.bytes].push_back(block.data);
    kept_bytes_ += block.bytes;
  } else {
    Free(block.data, block.bytes);
  }
}

void OverflowArena::End(ByteSpan block) {
  BRIGADE_CHECK_LE(block.bytes, in_use_bytes_);
  in_use_bytes_ -= block.bytes;
  budget_->Return(block.bytes);
}

void OverflowArena::RetireWhole(ByteSpan block) {
  End(block);
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
