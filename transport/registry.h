// The transports of an MPI job by name. Together with registry.cc the only place that lists them.

#ifndef BRIGADE_TRANSPORT_REGISTRY_H_
#define BRIGADE_TRANSPORT_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/mpi_part.h"

namespace brigade {

// Creates an endpoint of the transport called `name`, which must be equal on all ranks of the job;
// "auto" is the fastest there is. Local. kInvalidArgument, listing the names, if there is no such
// transport; kUnavailable if the process has an MPI that this was not built for; otherwise as the
// transport says.
Status CreateEndpoint(const std::string& name, std::unique_ptr<Endpoint>* endpoint);

// kInvalidArgument, listing the names, if there is no transport called `name`.
Status CheckTransport(const std::string& name);

// The members of the MPI communicator whose Fortran handle (MPI_Comm_c2f) is `mpi_comm`, for
// callers that do not see <mpi.h>. The communicator must outlive *bootstrap. kInvalidArgument: no
// such communicator.
Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap);

// For callers that do not see <mpi.h>. REQUIRES: an endpoint was created.
JobPosition PositionInJob();

// Whether MPI would use TCP between hosts, and why, in words. Takes a quarter of a second unless
// it is known already, as it is once "auto" has opened a group on several hosts. REQUIRES: MPI is
// initialised.
std::string DescribeFabric();

struct TransportName {
  const char* name;
  const char* description;
};
std::vector<TransportName> Transports();

// "auto (...), mpi (...)": for help texts and messages.
std::string TransportNames();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_REGISTRY_H_
