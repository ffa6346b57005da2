#include "transport/host_memory/shared_allocations.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "transport/rules.h"

namespace brigade {
namespace {

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// No memory is longer than 2^62, so sums do not wrap.
size_t WholePages(size_t bytes) {
  return (std::min(bytes, size_t{1} << 62) + PageBytes() - 1) / PageBytes() * PageBytes();
}

bool IsOfThisProcess(const SharedSegment& segment) { return segment.address().process == getpid(); }

}  // namespace

SharedAllocations::SharedAllocations(bool overcommits)
    : overcommits_(overcommits), available_(/*is_charged_at_once=*/!overcommits) {}

SharedAllocations& SharedAllocations::Here() {
  static auto& here = *new SharedAllocations;
  return here;
}

// If a fork interrupted another thread's allocation, or its use of a segment, the child could do
// neither. The handlers are registered when the library is loaded, since the first registered ones
// run last before a fork: other handlers wait for a step of a progress thread, which may allocate
// here.
const int SharedAllocations::fork_handlers_ =
    pthread_atfork(&LockForFork, &UnlockAfterFork, &UnlockAfterFork);

void SharedAllocations::LockForFork() {
  Here().mutex_.lock();
  SharedSegment::LockForFork();
}

void SharedAllocations::UnlockAfterFork() {
  SharedSegment::UnlockAfterFork();
  Here().mutex_.unlock();
}

void SharedAllocations::LeaveToParent() {
  if (last_ == nullptr || IsOfThisProcess(*last_)) return;
  kept_.clear();
  kept_bytes_ = 0;
  unfilled_.clear();
  last_ = nullptr;
}

bool SharedAllocations::TakeKept(size_t bytes, Block* block) {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                  [&](const Block& kept) { return kept.bytes == bytes; });
  if (found == kept_.rend()) return false;
  *block = std::move(*found);
  kept_.erase(std::next(found).base());
  kept_bytes_ -= bytes;
  return true;
}

// Ranks of a host may allocate at the same time, so it is looked anew while much is filled.
Status SharedAllocations::TakeNew(size_t bytes, Block* block) {
  uint64_t offset = 0;
  bool is_enough = true;
  const auto look = [&](size_t left) {
    available_.LookAnew();
    return is_enough = available_.Take(left);
  };
  Status status(StatusCode::kUnavailable, "there is no segment yet");
  if (last_ != nullptr) status = last_->AllocateForUser(bytes, &offset, look, overcommits_);
  if (!status.ok() && is_enough) {
    // It may be full of holes. Where another is no better it is gone again.
    std::shared_ptr<SharedSegment> added;
    status = SharedSegment::Create(&added);
    if (status.ok()) status = added->AllocateForUser(bytes, &offset, look, overcommits_);
    if (status.ok()) last_ = std::move(added);
  }
  if (!status.ok()) {
    return {is_enough ? StatusCode::kUnavailable : StatusCode::kOutOfMemory, status.message()};
  }
  *block = {last_, last_->base() + offset, bytes, nullptr};
  return Status();
}

Status SharedAllocations::AddBlock(size_t bytes, Block** added) {
  const size_t taken = WholePages(bytes);
  Block block;
  if (!TakeKept(taken, &block)) {
    if (!available_.Take(taken)) {
      return {StatusCode::kOutOfMemory,
              std::to_string(bytes) + " bytes are more than the system has left"};
    }
    BRIGADE_RETURN_IF_ERROR(TakeNew(taken, &block));
  }
  *added = &(blocks_[block.memory] = std::move(block));
  has_blocks_.store(true, std::memory_order_relaxed);
  return Status();
}

Status SharedAllocations::Allocate(size_t bytes, void** memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LeaveToParent();
  Block* block = nullptr;
  const size_t slot_bytes = PageSlots::SlotBytesFor(bytes, PageBytes());
  if (slot_bytes == 0) {
    BRIGADE_RETURN_IF_ERROR(AddBlock(bytes, &block));
    *memory = block->memory;
    return Status();
  }
  std::set<Block*>& unfilled = unfilled_[slot_bytes];
  if (unfilled.empty()) {
    BRIGADE_RETURN_IF_ERROR(AddBlock(slot_bytes, &block));
    block->slots = std::make_unique<PageSlots>(slot_bytes, PageBytes());
    unfilled.insert(block);
  }
  block = *unfilled.begin();
  *memory = block->memory + block->slots->Take() * slot_bytes;
  if (block->slots->full()) unfilled.erase(block);
  return Status();
}

SharedAllocations::Blocks::iterator SharedAllocations::FindBlock(const std::byte* memory) {
  auto found = blocks_.upper_bound(memory);
  if (found == blocks_.begin()) return blocks_.end();
  --found;
  const auto before = static_cast<size_t>(memory - found->second.memory);
  return before < found->second.bytes ? found : blocks_.end();
}

bool SharedAllocations::Free(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = FindBlock(static_cast<std::byte*>(memory));
  if (found == blocks_.end()) return false;
  Block& block = found->second;
  const bool is_of_this_process = IsOfThisProcess(*block.segment);
  const auto before = static_cast<size_t>(static_cast<std::byte*>(memory) - block.memory);
  if (block.slots == nullptr) {
    if (before != 0) return false;
  } else {
    const size_t slot_bytes = block.slots->slot_bytes();
    if (before % slot_bytes != 0 || !block.slots->IsUsed(before / slot_bytes)) return false;
    block.slots->Give(before / slot_bytes);
    std::set<Block*>& unfilled = unfilled_[slot_bytes];
    if (is_of_this_process) unfilled.insert(&block);
    if (!block.slots->empty()) return true;
    unfilled.erase(&block);
    block.slots.reset();
  }
  if (is_of_this_process) Keep(std::move(block));
  blocks_.erase(found);
  has_blocks_.store(!blocks_.empty(), std::memory_order_relaxed);
  return true;
}

void SharedAllocations::Keep(Block block) {
  kept_bytes_ += block.bytes;
  // One that is too long does not drive out the others.
  if (block.bytes > rules::kMostKeptBytes) {
    kept_.push_front(std::move(block));
  } else {
    kept_.push_back(std::move(block));
  }
  while (kept_bytes_ > rules::kMostKeptBytes || kept_.size() > rules::kMostKeptBlocks) {
    const Block& oldest = kept_.front();
    kept_bytes_ -= oldest.bytes;
    oldest.segment->Free(static_cast<uint64_t>(oldest.memory - oldest.segment->base()),
                         oldest.bytes);
    kept_.pop_front();
  }
}

std::shared_ptr<SharedSegment> SharedAllocations::Find(const void* memory, size_t bytes) {
  if (bytes == 0 || !has_blocks_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto* const begin = static_cast<const std::byte*>(memory);
  const auto found = FindBlock(begin);
  if (found == blocks_.end()) return nullptr;
  const Block& block = found->second;
  auto before = static_cast<size_t>(begin - block.memory);
  size_t allocated = block.bytes;
  if (block.slots != nullptr) {
    allocated = block.slots->slot_bytes();
    if (!block.slots->IsUsed(before / allocated)) return nullptr;
    before %= allocated;
  }
  return bytes <= allocated - before ? block.segment : nullptr;
}

}  // namespace brigade
