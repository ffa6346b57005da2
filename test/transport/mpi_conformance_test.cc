// The conformance suite over the transports of an MPI job, bare and wrapped; each process is one
// rank.

#include <mpi.h>

#include <cstdlib>
#include <utility>

#include "gtest/gtest.h"
#include "test/transport/conformance_wraps.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

// Has its communicator freed with it, as a caller may do once the group is open.
class OwningBootstrap : public MpiBootstrap {
 public:
  using MpiBootstrap::MpiBootstrap;
  ~OwningBootstrap() override {
    MPI_Comm mine = comm();
    MPI_Comm_free(&mine);
  }
};

std::unique_ptr<Bootstrap> BootstrapOf(const std::vector<int>& members) {
  MPI_Group world;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, /*tag=*/0, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return std::make_unique<OwningBootstrap>(comm);
}

ConformanceTransport Over(const char* transport, const char* name, const Wrap& wrap) {
  return {name, [transport, wrap](const std::function<void(ConformanceRank&)>& body) {
            std::unique_ptr<Endpoint> endpoint;
            const Status status = CreateEndpoint(transport, &endpoint);
            ASSERT_TRUE(status.ok()) << status.ToString();
            endpoint = wrap(std::move(endpoint), /*rank=*/0);
            ConformanceRank self;
            MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
            MPI_Comm_size(MPI_COMM_WORLD, &self.size);
            self.endpoint = endpoint.get();
            self.bootstrap = BootstrapOf;
            body(self);
          }};
}

}  // namespace

std::vector<ConformanceTransport> ConformanceTransports() {
  // Transport `sockets` reads by plain calls, so `tcp` is to read through io_uring on each machine.
  setenv("BRIGADE_IO_URING", "on", /*overwrite=*/1);
  return {Over("mpi", "Mpi", Bare),
          Over("mpi", "MpiChecked", Checked),
          Over("mpi", "MpiFaulty", Faulty),
          Over("shm", "Shm", Bare),
          Over("shm", "ShmChecked", Checked),
          Over("shm", "ShmFaulty", Faulty),
          Over("tcp", "Tcp", Bare),
          Over("tcp", "TcpChecked", Checked),
          Over("tcp", "TcpFaulty", Faulty),
          Over("sockets", "Sockets", Bare),
          Over("sockets", "SocketsChecked", Checked),
          Over("sockets", "SocketsFaulty", Faulty)};
}

}  // namespace brigade
