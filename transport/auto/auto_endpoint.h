// Auto: a transport per peer. Members of a group that share memory use the near one; all others
// one of two far ones, the same in the whole group.

#ifndef BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_
#define BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_

#include <memory>

#include "transport/endpoint.h"

namespace brigade {

// `near`: null on ranks that have no shared memory; its groups may span hosts (HostOf says which
// peers it reaches). `tcp`: null on ranks that have it not or had better not use it. Both are used
// in groups all of whose members have them. `mpi`: always works. Far ones cost nothing before they
// have a group, send from any memory, and lend leases that lie in their landing.
std::unique_ptr<Endpoint> MakeAutoEndpoint(std::unique_ptr<Endpoint> near,
                                           std::unique_ptr<Endpoint> tcp,
                                           std::unique_ptr<Endpoint> mpi);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_
