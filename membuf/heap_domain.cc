#include "membuf/heap_domain.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kAlignmentBytes = 64;

Status OverLimit(const char* limit_name, size_t limit, size_t wanted) {
  return Status(StatusCode::kOutOfMemory, "heap domain: " + std::to_string(wanted) +
                                              " would pass " + limit_name + " = " +
                                              std::to_string(limit));
}

}  // namespace

HeapDomain::HeapDomain(const DomainLimits& limits, int placements)
    : limits_(limits), placements_(placements) {
  BRIGADE_CHECK_LE(1, placements);
  BRIGADE_CHECK_LE(placements, kMemoryKinds);
}

HeapDomain::~HeapDomain() { BRIGADE_CHECK_EQ(registered_.size(), size_t{0}); }

int HeapDomain::PlacementOf(MemoryKind kind) const {
  return std::min(static_cast<int>(kind), placements_ - 1);
}

Status HeapDomain::Allocate(int placement, size_t bytes, ByteSpan* memory) {
  BRIGADE_CHECK_LE(0, placement);
  BRIGADE_CHECK_LT(placement, placements_);
  BRIGADE_CHECK_LT(size_t{0}, bytes);
  void* data = nullptr;
  if (posix_memalign(&data, kAlignmentBytes, bytes) != 0) {
    return Status(StatusCode::kOutOfMemory,
                  "heap domain: the system has no " + std::to_string(bytes) + " bytes");
  }
  *memory = ByteSpan{static_cast<std::byte*>(data), bytes};
  return Status();
}

void HeapDomain::Free(ByteSpan memory) { std::free(memory.data); }

Status HeapDomain::Register(ByteSpan memory, uint64_t* key) {
  if (registered_.size() >= limits_.max_regions) {
    return OverLimit("max_regions", limits_.max_regions, registered_.size() + 1);
  }
  if (memory.bytes > limits_.max_region_bytes) {
    return OverLimit("max_region_bytes", limits_.max_region_bytes, memory.bytes);
  }
  if (memory.bytes > limits_.max_total_bytes - registered_bytes_) {
    return OverLimit("max_total_bytes", limits_.max_total_bytes, registered_bytes_ + memory.bytes);
  }
  BRIGADE_CHECK_EQ(reinterpret_cast<uintptr_t>(memory.data) % kAlignmentBytes, uintptr_t{0});
  *key = next_key_++;
  registered_.emplace(*key, memory.bytes);
  registered_bytes_ += memory.bytes;
  return Status();
}

void HeapDomain::Deregister(uint64_t key) {
  const auto it = registered_.find(key);
  BRIGADE_CHECK(it != registered_.end());
  registered_bytes_ -= it->second;
  registered_.erase(it);
}

}  // namespace brigade
