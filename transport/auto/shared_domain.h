// SharedDomain: one transport's staging memory, registered with other transports, too.

#ifndef BRIGADE_TRANSPORT_AUTO_SHARED_DOMAIN_H_
#define BRIGADE_TRANSPORT_AUTO_SHARED_DOMAIN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "membuf/memory_domain.h"

namespace brigade {

class SharedDomain : public MemoryDomain {
 public:
  // All must outlive this.
  SharedDomain(MemoryDomain* owner, std::vector<MemoryDomain*> others)
      : owner_(owner), others_(std::move(others)) {}

  bool grows() const override { return owner_->grows(); }
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override {
    return owner_->Allocate(placement, bytes, memory);
  }
  void Free(ByteSpan memory) override { owner_->Free(memory); }
  Status Register(ByteSpan memory, uint64_t* key) override;
  void Deregister(uint64_t key) override;

 private:
  MemoryDomain* const owner_;
  const std::vector<MemoryDomain*> others_;
  std::map<uint64_t, std::vector<uint64_t>> keys_;  // the owner's, and those of the others
  uint64_t next_key_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_AUTO_SHARED_DOMAIN_H_
