// The transports by name. Together with registry.cc the only place that lists them.
//
// A process may have no MPI, or one that is not initialised yet: then there is no transport "mpi",
// and "auto" does without it. A process that initialises MPI later must create its endpoint later.

#ifndef BRIGADE_TRANSPORT_REGISTRY_REGISTRY_H_
#define BRIGADE_TRANSPORT_REGISTRY_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/registry/mpi_part.h"

namespace brigade {

// Creates an endpoint of the transport called `name`, which must be equal on all ranks of the job;
// "auto" is the fastest transport available. Local. kInvalidArgument, with the list of names: no
// such transport; kUnavailable: this was not built for the process's MPI, or "mpi" where no MPI
// runs; otherwise the errors of the transport.
Status CreateEndpoint(const std::string& name, std::unique_ptr<Endpoint>* endpoint);

// If MPI runs, has waits of `endpoint` poll MPI, also if MPI was initialised after CreateEndpoint.
void PollMpiInWaitsOf(Endpoint* endpoint);

// Returns kInvalidArgument, with the list of names, if there is no transport called `name`.
Status CheckTransport(const std::string& name);
// Returns kInvalidArgument if a variable that transports read has a bad value.
Status CheckVariables();

// Makes a bootstrap of the members of the MPI communicator with Fortran handle `mpi_comm`
// (MPI_Comm_c2f), for callers that do not include <mpi.h>. The communicator must outlive
// *bootstrap. kInvalidArgument: no such communicator. kUnavailable: no MPI runs in this process.
Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap);

// Returns the position of this process in its job: in MPI_COMM_WORLD if MPI runs, otherwise from
// the variables of a launcher (transport/host/launcher.h). Unknown: rank -1 of 0.
JobPosition PositionInJob();

// Describes whether MPI would use TCP between hosts, and why. Takes a quarter of a second unless it
// is known already, for example once "auto" has opened a group on several hosts. REQUIRES: MPI is
// initialised.
std::string DescribeFabric();

struct TransportName {
  const char* name;
  const char* description;
};
std::vector<TransportName> Transports();

// Returns "auto (...), mpi (...)" for help texts and messages.
std::string TransportNames();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_REGISTRY_REGISTRY_H_
