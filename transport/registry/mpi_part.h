// MpiPart: the part of the library that calls MPI, as an interface for code that must not include
// <mpi.h>. It is compiled once for each family of MPIs, and libbrigade.so opens the part of the
// program's family.

#ifndef BRIGADE_TRANSPORT_REGISTRY_MPI_PART_H_
#define BRIGADE_TRANSPORT_REGISTRY_MPI_PART_H_

#include <memory>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/host/fabric.h"

namespace brigade {

// The rank of a process in its job, and the number of ranks; -1 and 0: unknown.
struct JobPosition {
  int rank = -1;
  int ranks = 0;
};

class MpiPart {
 public:
  virtual ~MpiPart() = default;

  // Returns whether MPI is initialised and not finalised.
  virtual bool IsRunning() const = 0;
  // kUnavailable: the part was not built for the MPI of this process.
  virtual Status Check() const = 0;
  virtual Status CreateEndpoint(std::unique_ptr<Endpoint>* endpoint) const = 0;
  // Makes a bootstrap of the members of the communicator with this Fortran handle.
  // kInvalidArgument: no such communicator.
  virtual Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap) const = 0;
  // Returns the position in MPI_COMM_WORLD.
  virtual JobPosition PositionInJob() const = 0;
  // Returns the settings of MPI for messages between hosts. Takes a quarter of a second.
  virtual FabricFacts Fabric() const = 0;
  // Returns a token: while a copy of it exists, waits poll MPI (transport/mpi_polls.h). Null before
  // MPI_Init and after MPI_Finalize.
  virtual std::shared_ptr<const void> PollInWaits() const = 0;
};

// Registers a part. Called by the part when it is loaded.
void ProvideMpiPart(const MpiPart* part);

// Finds the part for the MPI that runs in this process, and loads it if necessary; null: none runs,
// that is, none is loaded, or it is not initialised, or finalised. kUnavailable: there is no part
// for the MPI that runs.
Status FindMpiPart(const MpiPart** part);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_REGISTRY_MPI_PART_H_
