// MemoryDomain: the source of special memory. A transport that needs registered memory implements
// one; membuf knows no transport.

#ifndef BRIGADE_MEMBUF_MEMORY_DOMAIN_H_
#define BRIGADE_MEMBUF_MEMORY_DOMAIN_H_

#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "membuf/memory_kind.h"
#include "membuf/status.h"

namespace brigade {

class MemoryDomain {
 public:
  virtual ~MemoryDomain() = default;

  // Returns the memory that `kind` maps to, as an index below placements(). A domain with one
  // memory maps all kinds to 0.
  virtual int placements() const { return 1; }
  virtual int PlacementOf(MemoryKind) const { return 0; }

  // Returns whether transfers can use all memory of Allocate, for as long as the machine has some:
  // overflow memory then need not drain through staging memory.
  virtual bool grows() const { return false; }

  // Allocates memory of `placement`, aligned to 64 bytes and not yet registered. kOutOfMemory: no
  // effect.
  virtual Status Allocate(int placement, size_t bytes, ByteSpan* memory) = 0;
  virtual void Free(ByteSpan memory) = 0;

  // Registers memory for transfers and returns its key in the transport. kOutOfMemory, with the
  // limit, if a limit would be exceeded: no effect. The memory must stay allocated until
  // Deregister.
  virtual Status Register(ByteSpan memory, uint64_t* key) = 0;
  // REQUIRES: `key` came from Register and nothing is in flight in its memory.
  virtual void Deregister(uint64_t key) = 0;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_MEMORY_DOMAIN_H_
