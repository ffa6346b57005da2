// SimDomain: the staging memories of one simulated rank: ordinary memory of this process, with the
// simulated memory of each address.

#ifndef BRIGADE_TRANSPORT_SIM_SIM_DOMAIN_H_
#define BRIGADE_TRANSPORT_SIM_SIM_DOMAIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/memory_domain.h"
#include "transport/machines/machine_description.h"

namespace brigade {

class SimDomain : public MemoryDomain {
 public:
  // `machine` must outlive the domain.
  explicit SimDomain(const MachineDescription& machine);
  // REQUIRES: all memory is freed.
  ~SimDomain() override;

  // Placement 0 is the placement of MemoryKind::kHost: memory without a kind can have any use
  // there.
  int placements() const override { return static_cast<int>(memory_of_placement_.size()); }
  int PlacementOf(MemoryKind kind) const override;
  bool grows() const override { return !machine_.needs_staging; }
  // kOutOfMemory at the machine's limit.
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override;
  void Free(ByteSpan memory) override;
  Status Register(ByteSpan memory, uint64_t* key) override;
  void Deregister(uint64_t key) override;

  // Returns the index of the machine's memory that contains an address.
  int MemoryAt(const std::byte* address) const {
    for (const Region& region : regions_) {
      if (region.span.data <= address && address < region.span.data + region.span.bytes) {
        return region.memory;
      }
    }
    return MachineDescription::kUserMemory;
  }

 private:
  struct Region {
    ByteSpan span;
    int memory;
  };

  const MachineDescription& machine_;
  std::vector<int> memory_of_placement_;
  std::vector<Region> regions_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_DOMAIN_H_
