#include "membuf/registered_region.h"

#include <utility>

namespace brigade {

RegisteredRegion::~RegisteredRegion() { Reset(); }

RegisteredRegion::RegisteredRegion(RegisteredRegion&& other) noexcept { *this = std::move(other); }

RegisteredRegion& RegisteredRegion::operator=(RegisteredRegion&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  domain_ = std::exchange(other.domain_, nullptr);
  memory_ = std::exchange(other.memory_, ByteSpan());
  key_ = std::exchange(other.key_, 0);
  return *this;
}

Status RegisteredRegion::Create(MemoryDomain* domain, int placement, size_t bytes,
                                RegisteredRegion* region) {
  RegisteredRegion created;
  BRIGADE_RETURN_IF_ERROR(domain->Allocate(placement, bytes, &created.memory_));
  const Status registered = domain->Register(created.memory_, &created.key_);
  if (!registered.ok()) {
    domain->Free(created.memory_);
    return registered;
  }
  created.domain_ = domain;
  *region = std::move(created);
  return Status();
}

void RegisteredRegion::Reset() {
  if (domain_ == nullptr) return;
  domain_->Deregister(key_);
  domain_->Free(memory_);
  domain_ = nullptr;
  memory_ = ByteSpan();
  key_ = 0;
}

}  // namespace brigade
