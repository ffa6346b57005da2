// shm: ranks of one host, through shared memory.
//
// Each rank has one shared segment that the ranks of its groups map. Segments are allocated there:
// a send writes a few words in the edge to its receiver, and a lease points into the original
// sender's memory even if others forward it. One copy into the shared segment thus serves any
// number of readers.
//
// Sent messages are received even if their sender has ended, and without its help.

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
  // A group may have members on several hosts. It then reaches only members on this rank's host;
  // see HostOf.
  bool spans_hosts = false;
  // Kernel copies within the host: none by default. nullopt: those that this
  // machine's kernel copies faster.
  std::optional<KernelCopies> kernel_copies = KernelCopies();
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
