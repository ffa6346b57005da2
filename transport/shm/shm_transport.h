// shm: ranks of one host, through memory they share.
//
// Each rank has one segment that the ranks of its groups map. Pieces lie in it from the start: a
// send is a few words in the edge to its receiver, and a lease points into the sender's memory,
// whoever forwards it. One copy in thus serves any number of readers.
//
// What has been sent is received whatever becomes of its sender, and without its help.

#ifndef BRIGADE_TRANSPORT_SHM_SHM_TRANSPORT_H_
#define BRIGADE_TRANSPORT_SHM_SHM_TRANSPORT_H_

#include <memory>
#include <optional>

#include "membuf/status.h"
#include "transport/endpoint.h"
#include "transport/host/host.h"
#include "transport/host_memory/kernel_copy.h"

namespace brigade {

struct ShmOptions {
  // Where this rank is.
  Host host = Host::Here();
  // A group may have members on several hosts. It then reaches only those on one's own; HostOf
  // tells which.
  bool spans_hosts = false;
  // What messages from point to point the kernel copies: none. Not given: what this machine's
  // kernel copies faster.
  std::optional<KernelCopyRange> kernel_copies = KernelCopyRange();
};

// Local. Works with any bootstrap whose members are on one host (host.h) or which may span several;
// else OpenGroup is kUnavailable on all members, as it is if one cannot open the memory of another
// on its host. kOutOfMemory, kUnavailable: no shared memory to be had here.
Status CreateShmEndpoint(const ShmOptions& options, std::unique_ptr<Endpoint>* endpoint);
inline Status CreateShmEndpoint(std::unique_ptr<Endpoint>* endpoint) {
  return CreateShmEndpoint(ShmOptions(), endpoint);
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SHM_SHM_TRANSPORT_H_
