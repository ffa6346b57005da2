// All of this room, for those that see no <mpi.h>.

#include "transport/registry/mpi_part.h"

#include <mpi.h>

#include <string>

#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/mpi_fabric.h"
#include "transport/mpi/mpi_family.h"
#include "transport/mpi/mpi_transport.h"
#include "transport/mpi/polled_mpi.h"

namespace brigade {
namespace {

class ThisMpi : public MpiPart {
 public:
  ThisMpi() { ProvideMpiPart(this); }

  bool IsRunning() const override { return MpiIsActive(); }

  Status Check() const override { return CheckMpi(); }

  Status CreateEndpoint(std::unique_ptr<Endpoint>* endpoint) const override {
    return CreateMpiEndpoint(endpoint);
  }

  Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap) const override {
    const MPI_Comm comm = MPI_Comm_f2c(mpi_comm);
    // Open MPI translates a number that is no communicator's to a null pointer.
    if (comm == MPI_Comm() || comm == MPI_COMM_NULL) {
      return Status(StatusCode::kInvalidArgument,
                    "there is no MPI communicator with Fortran handle " + std::to_string(mpi_comm));
    }
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter != 0) {
      return Status(
          StatusCode::kInvalidArgument,
          "a group of an MPI intercommunicator, which has two groups of ranks; merge them "
          "first (MPI_Intercomm_merge)");
    }
    *bootstrap = std::make_unique<MpiBootstrap>(comm);
    return Status();
  }

  JobPosition PositionInJob() const override {
    JobPosition position;
    MPI_Comm_rank(MPI_COMM_WORLD, &position.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &position.ranks);
    return position;
  }

  FabricFacts Fabric() const override { return FabricHere(); }

  std::shared_ptr<const void> PollInWaits() const override {
    return IsRunning() ? PollMpiInWaits() : nullptr;
  }
};

// Not destroyed: functions of atexit may still use MPI.
[[maybe_unused]] const ThisMpi& this_mpi = *new ThisMpi;

}  // namespace
}  // namespace brigade
