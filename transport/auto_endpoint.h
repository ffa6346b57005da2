// Auto: a transport per group, the near one where all members can use it, else the far one.

#ifndef BRIGADE_TRANSPORT_AUTO_ENDPOINT_H_
#define BRIGADE_TRANSPORT_AUTO_ENDPOINT_H_

#include <memory>

#include "transport/endpoint.h"

namespace brigade {

// `near`: may be null on some ranks, its groups may be refused as kUnavailable on all members
// alike, and it alone may need registered memory, wake sleepers, and lend leases that must be
// released. `far`: for all other groups; costs nothing before it has one.
std::unique_ptr<Endpoint> MakeAutoEndpoint(std::unique_ptr<Endpoint> near,
                                           std::unique_ptr<Endpoint> far);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_AUTO_ENDPOINT_H_
