#include "transport/sim/sim_domain.h"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "membuf/check.h"

namespace brigade {

SimDomain::SimDomain(const MachineDescription& machine) : machine_(machine) {
  for (MemoryKind kind : {MemoryKind::kHost, MemoryKind::kController}) {
    const int memory = machine.memory_of_kind[static_cast<int>(kind)];
    const auto end = memory_of_placement_.end();
    if (std::find(memory_of_placement_.begin(), end, memory) == end) {
      memory_of_placement_.push_back(memory);
    }
  }
}

SimDomain::~SimDomain() { BRIGADE_CHECK(regions_.empty()); }

int SimDomain::PlacementOf(MemoryKind kind) const {
  const int memory = machine_.memory_of_kind[static_cast<int>(kind)];
  return static_cast<int>(
      std::find(memory_of_placement_.begin(), memory_of_placement_.end(), memory) -
      memory_of_placement_.begin());
}

Status SimDomain::Allocate(int placement, size_t bytes, ByteSpan* memory) {
  const int index = memory_of_placement_[static_cast<size_t>(placement)];
  const Memory& of = machine_.memories[static_cast<size_t>(index)];
  size_t used = 0;
  for (const Region& region : regions_) used += region.memory == index ? region.span.bytes : 0;
  if (bytes > of.bytes_per_rank - std::min(used, of.bytes_per_rank)) {
    return Status(StatusCode::kOutOfMemory,
                  "sim: " + std::to_string(used + bytes) + " bytes would pass the " +
                      std::to_string(of.bytes_per_rank) + " that a rank of " + machine_.name +
                      " has of " + of.name);
  }
  // Untouched memory costs nothing; most of it stays untouched if only lengths are simulated.
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return Status(StatusCode::kOutOfMemory,
                  "sim: the system has no " + std::to_string(bytes) + " bytes");
  }
  *memory = {static_cast<std::byte*>(data), bytes};
  regions_.push_back({*memory, index});
  return Status();
}

void SimDomain::Free(ByteSpan memory) {
  const auto region = std::find_if(regions_.begin(), regions_.end(),
                                   [&](const Region& r) { return r.span.data == memory.data; });
  BRIGADE_CHECK(region != regions_.end());
  munmap(memory.data, memory.bytes);
  regions_.erase(region);
}

Status SimDomain::Register(ByteSpan, uint64_t* key) {
  *key = 0;
  return Status();
}

void SimDomain::Deregister(uint64_t) {}

}  // namespace brigade
