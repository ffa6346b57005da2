// MpiPart: what of the library calls MPI, for all that must not: it is compiled once for each
// family of MPIs, and libbrigade.so opens that of the program's.

#ifndef BRIGADE_TRANSPORT_MPI_PART_H_
#define BRIGADE_TRANSPORT_MPI_PART_H_

#include <memory>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/host/fabric.h"

namespace brigade {

// A process's rank in MPI_COMM_WORLD, and their number.
struct JobPosition {
  int rank = 0;
  int ranks = 0;
};

class MpiPart {
 public:
  virtual ~MpiPart() = default;

  // kUnavailable: the process has an MPI that this was not built for.
  virtual Status Check() const = 0;
  virtual Status CreateEndpoint(std::unique_ptr<Endpoint>* endpoint) const = 0;
  // The members of the communicator with that Fortran handle. kInvalidArgument: there is none.
  virtual Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap) const = 0;
  virtual JobPosition PositionInJob() const = 0;
  // What MPI was told to use between hosts. Takes a quarter of a second.
  virtual FabricFacts Fabric() const = 0;
  // While anybody holds it, waits poll MPI (mpi_polls.h); null before MPI_Init and behind
  // MPI_Finalize.
  virtual std::shared_ptr<const void> PollInWaits() const = 0;
};

// The part says itself, when it is loaded, that it is there.
void ProvideMpiPart(const MpiPart* part);

// The part for the program's MPI, which is loaded unless one is there. kUnavailable: the program
// has no MPI, or one that there is no part for.
Status FindMpiPart(const MpiPart** part);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_PART_H_
