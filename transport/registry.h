// The transports of an MPI job by name. Together with registry.cc the only place that lists them.

#ifndef BRIGADE_TRANSPORT_REGISTRY_H_
#define BRIGADE_TRANSPORT_REGISTRY_H_

#include <memory>
#include <string>

#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

// Creates an endpoint of the transport called `name`, which must be equal on all ranks of the job;
// "auto" is the fastest there is. Local. kInvalidArgument, listing the names, if there is no such
// transport; otherwise as the transport says.
Status CreateEndpoint(const std::string& name, std::unique_ptr<Endpoint>* endpoint);

// "auto (...), mpi (...)": for help texts and messages.
std::string TransportNames();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_REGISTRY_H_
