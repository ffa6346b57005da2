// LockedDomain: staging memory that is registered with io_uring, up to the limit on locked memory.
//
// The limit applies to all processes of a user on a machine together, so each takes its share.
// Memory beyond the share is not registered, and works as well.

#ifndef BRIGADE_TRANSPORT_TCP_LOCKED_DOMAIN_H_
#define BRIGADE_TRANSPORT_TCP_LOCKED_DOMAIN_H_

#include <functional>
#include <string>

#include "membuf/heap_domain.h"
#include "membuf/memory_domain.h"
#include "transport/tcp/io/socket_io.h"

namespace brigade {

class LockedDomain : public MemoryDomain {
 public:
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override {
    return heap_.Allocate(placement, bytes, memory);
  }
  void Free(ByteSpan memory) override { heap_.Free(memory); }
  // Lock registers with the kernel later.
  Status Register(ByteSpan memory, uint64_t* key) override;
  void Deregister(uint64_t key) override;

  // Registers the first region with the kernel, or the part of it that fits into this process's
  // share of the limit, for `sharers` processes of this user on the machine. Only the first call
  // has an effect; its `io` must outlive the registration. `log` is called once if the limit leaves
  // no room.
  void Lock(SocketIo* io, int sharers, const std::function<void(const std::string&)>& log);

 private:
  SocketIo* io_ = nullptr;  // where it was locked
  HeapDomain heap_;
  ByteSpan first_;
  uint64_t keys_ = 0;
  uint64_t first_key_ = 0;
  size_t locked_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_LOCKED_DOMAIN_H_
