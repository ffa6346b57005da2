#include "test/support/thread_hosts.h"

#include <stdexcept>
#include <utility>
#include <vector>

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
  std::vector<AutoTransport> transports;
  transports.push_back({std::move(shm), AutoTransport::Reach::kHost});
  transports.push_back({world->CreateEndpoint(rank), AutoTransport::Reach::kEverywhere});
  return MakeAutoEndpoint(std::move(transports));
}

}  // namespace brigade
