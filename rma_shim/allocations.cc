#include "rma_shim/allocations.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "membuf/available_memory.h"
#include "membuf/status.h"
#include "patterns/settings/settings.h"

namespace brigade {
namespace rma {
namespace {

// The first window names what is wrong with the settings.
bool IsOn() {
  Settings settings;
  return ReadSettings(&settings).ok() && settings.rma != Settings::When::kOff;
}

}  // namespace

Allocations& Allocations::Here() {
  static auto& here = *new Allocations;
  return here;
}

Allocations::Allocations() : is_on_(IsOn()) {}

bool Allocations::IsAvailable(size_t bytes) {
  constexpr size_t kLittle = 64;
  const size_t taken = bytes + static_cast<size_t>(sysconf(_SC_PAGESIZE));  // whole pages
  if (taken > until_look_) {
    ++looks_;
    const size_t left = AvailableMemory(Swapping::kAllowed);
    if (taken > left) return false;
    until_look_ = std::max(taken, left / kLittle);
  }
  until_look_ -= taken;
  return true;
}

void* Allocations::Allocate(size_t bytes) {
  if (!is_on_) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!IsAvailable(bytes)) return nullptr;
  uint64_t offset = 0;
  if (last_ == nullptr || !last_->Allocate(bytes, &offset).ok()) {
    // It may be full of holes. Where another is no better it is gone again.
    std::shared_ptr<SharedSegment> added;
    if (!SharedSegment::Create(&added).ok() || !added->Allocate(bytes, &offset).ok()) {
      return nullptr;
    }
    last_ = added;
  }
  std::byte* const memory = last_->base() + offset;
  allocations_[memory] = {last_, bytes};
  return memory;
}

bool Allocations::Free(void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(static_cast<std::byte*>(memory));
  if (found == allocations_.end()) return false;
  SharedSegment& segment = *found->second.segment;
  segment.Free(static_cast<uint64_t>(found->first - segment.base()), found->second.bytes);
  allocations_.erase(found);
  return true;
}

std::shared_ptr<SharedSegment> Allocations::Holding(const void* memory, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto* const begin = static_cast<const std::byte*>(memory);
  auto found = allocations_.upper_bound(begin);
  if (bytes == 0 || found == allocations_.begin()) return nullptr;
  --found;
  const auto before = static_cast<size_t>(begin - found->first);
  const bool is_inside = before < found->second.bytes && bytes <= found->second.bytes - before;
  return is_inside ? found->second.segment : nullptr;
}

}  // namespace rma
}  // namespace brigade
