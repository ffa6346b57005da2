#include "test/support/thread_hosts.h"

#include <stdexcept>

#include "transport/auto/auto_endpoint.h"
#include "transport/shm/shm_transport.h"

namespace brigade {

std::unique_ptr<Endpoint> AutoEndpointOn(int host, InprocWorld* world, int rank) {
  ShmOptions options;
  options.spans_hosts = true;
  options.host.network_namespace += static_cast<uint64_t>(host);
  std::unique_ptr<Endpoint> shm;
  const Status status = CreateShmEndpoint(options, &shm);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return MakeAutoEndpoint(std::move(shm), /*tcp=*/nullptr, world->CreateEndpoint(rank));
}

}  // namespace brigade
