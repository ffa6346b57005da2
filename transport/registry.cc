#include "transport/registry.h"

#include <mpi.h>

#include "transport/mpi_bootstrap.h"
#include "transport/mpi_transport.h"
#include "transport/shm_transport.h"

namespace brigade {
namespace {

struct Entry {
  const char* name;
  const char* description;
  Status (*create)(std::unique_ptr<Endpoint>* endpoint);
};

constexpr Entry kTransports[] = {
    {"auto", "the fastest for the job's machines: mpi", CreateMpiEndpoint},
    {"mpi", "messages of the MPI library", CreateMpiEndpoint},
    {"shm", "memory shared by the ranks of one host", CreateShmEndpoint},
};

}  // namespace

Status CreateEndpoint(const std::string& name, std::unique_ptr<Endpoint>* endpoint) {
  for (const Entry& entry : kTransports) {
    if (name == entry.name) return entry.create(endpoint);
  }
  return Status(StatusCode::kInvalidArgument,
                "there is no transport '" + name + "'; there are: " + TransportNames());
}

Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap) {
  const MPI_Comm comm = MPI_Comm_f2c(mpi_comm);
  if (comm == MPI_COMM_NULL) {
    return Status(StatusCode::kInvalidArgument,
                  "there is no MPI communicator with Fortran handle " + std::to_string(mpi_comm));
  }
  *bootstrap = std::make_unique<MpiBootstrap>(comm);
  return Status();
}

std::string TransportNames() {
  std::string names;
  for (const Entry& entry : kTransports) {
    if (!names.empty()) names += ", ";
    names += std::string(entry.name) + " (" + entry.description + ")";
  }
  return names;
}

}  // namespace brigade
