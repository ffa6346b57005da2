// LockedDomain: staging memory that is registered with io_uring, as far as the limit on locked
// memory allows.
//
// The limit holds for all processes of a user on a machine together, so each takes its share. What
// is beyond the share works as well.

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
  const DomainLimits& limits() const override { return limits_; }
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override {
    return heap_.Allocate(placement, bytes, memory);
  }
  void Free(ByteSpan memory) override { heap_.Free(memory); }
  // The kernel is told later, by Lock.
  Status Register(ByteSpan memory, uint64_t* key) override;
  void Deregister(uint64_t key) override;

  // Registers the first of the regions with the kernel, or as much of it as this process's share of
  // the limit holds, `sharers` processes of this user being on the machine. The first call counts;
  // its `io` must outlive what is registered. `log` hears once if the limit leaves no room.
  void Lock(SocketIo* io, int sharers, const std::function<void(const std::string&)>& log);
  size_t locked_bytes() const { return locked_bytes_; }

 private:
  SocketIo* io_ = nullptr;  // where it was locked
  HeapDomain heap_;
  DomainLimits limits_;
  ByteSpan first_;
  uint64_t keys_ = 0;
  uint64_t first_key_ = 0;
  size_t locked_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_LOCKED_DOMAIN_H_
