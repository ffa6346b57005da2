#include "transport/auto/shared_domain.h"

namespace brigade {

Status SharedDomain::Register(ByteSpan memory, uint64_t* key) {
  *key = next_key_++;
  std::vector<uint64_t>& keys = keys_[*key];
  keys.resize(1);
  Status status = owner_->Register(memory, &keys[0]);
  if (!status.ok()) {
    keys_.erase(*key);
    return status;
  }
  for (MemoryDomain* other : others_) {
    uint64_t others_key = 0;
    status = other->Register(memory, &others_key);
    if (!status.ok()) {
      Deregister(*key);
      return status;
    }
    keys.push_back(others_key);
  }
  return Status();
}

void SharedDomain::Deregister(uint64_t key) {
  const std::vector<uint64_t> keys = keys_.at(key);
  keys_.erase(key);
  for (size_t i = keys.size() - 1; i > 0; --i) others_[i - 1]->Deregister(keys[i]);
  owner_->Deregister(keys[0]);
}

}  // namespace brigade
