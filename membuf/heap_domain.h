// HeapDomain: ordinary memory in place of special memory, with configurable limits. Used by
// transports that need no registration (inproc, mpi), and in tests of scarcity.

#ifndef BRIGADE_MEMBUF_HEAP_DOMAIN_H_
#define BRIGADE_MEMBUF_HEAP_DOMAIN_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "membuf/memory_domain.h"

namespace brigade {

// Of registration.
struct DomainLimits {
  size_t max_regions = SIZE_MAX;
  size_t max_region_bytes = SIZE_MAX;
  size_t max_total_bytes = SIZE_MAX;
};

class HeapDomain : public MemoryDomain {
 public:
  // `placements`: number of memories that differ in name only, at most one per MemoryKind.
  explicit HeapDomain(const DomainLimits& limits = DomainLimits(), int placements = 1);
  // REQUIRES: nothing is registered.
  ~HeapDomain() override;

  int placements() const override { return placements_; }
  int PlacementOf(MemoryKind kind) const override;
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override;
  void Free(ByteSpan memory) override;
  // REQUIRES: `memory` is aligned to 64 bytes.
  Status Register(ByteSpan memory, uint64_t* key) override;
  void Deregister(uint64_t key) override;

  size_t registered_bytes() const { return registered_bytes_; }

 private:
  const DomainLimits limits_;
  const int placements_;
  std::map<uint64_t, size_t> registered_;  // key -> bytes
  size_t registered_bytes_ = 0;
  uint64_t next_key_ = 1;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_HEAP_DOMAIN_H_
