// RegisteredRegion: move-only owner of one allocation and its registration.

#ifndef BRIGADE_MEMBUF_REGISTERED_REGION_H_
#define BRIGADE_MEMBUF_REGISTERED_REGION_H_

#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "membuf/memory_domain.h"
#include "membuf/status.h"

namespace brigade {

class RegisteredRegion {
 public:
  RegisteredRegion() = default;
  ~RegisteredRegion();
  RegisteredRegion(RegisteredRegion&& other) noexcept;
  RegisteredRegion& operator=(RegisteredRegion&& other) noexcept;

  // Allocates and registers `bytes` of `placement`. On failure nothing stays allocated. `domain`
  // must outlive *region.
  static Status Create(MemoryDomain* domain, int placement, size_t bytes, RegisteredRegion* region);

  ByteSpan memory() const { return memory_; }
  uint64_t key() const { return key_; }

 private:
  void Reset();

  MemoryDomain* domain_ = nullptr;
  ByteSpan memory_;
  uint64_t key_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_REGISTERED_REGION_H_
