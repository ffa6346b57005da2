// ShmDomain: staging and overflow memory in a rank's own shared segment.

#ifndef BRIGADE_TRANSPORT_SHM_SHM_DOMAIN_H_
#define BRIGADE_TRANSPORT_SHM_SHM_DOMAIN_H_

#include <memory>
#include <utility>

#include "membuf/memory_domain.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

class ShmDomain : public MemoryDomain {
 public:
  explicit ShmDomain(std::shared_ptr<SharedSegment> segment) : segment_(std::move(segment)) {}

  bool grows() const override { return true; }

  Status Allocate(int, size_t bytes, ByteSpan* memory) override {
    uint64_t offset = 0;
    BRIGADE_RETURN_IF_ERROR(segment_->Allocate(bytes, &offset));
    *memory = ByteSpan{segment_->base() + offset, bytes};
    return Status();
  }
  void Free(ByteSpan memory) override {
    segment_->Free(static_cast<uint64_t>(memory.data - segment_->base()), memory.bytes);
  }
  // Peers can access the whole shared segment.
  Status Register(ByteSpan, uint64_t* key) override {
    *key = 0;
    return Status();
  }
  void Deregister(uint64_t) override {}

 private:
  const std::shared_ptr<SharedSegment> segment_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SHM_SHM_DOMAIN_H_
