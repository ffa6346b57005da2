#include "test/support/two_hosts.h"

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace brigade {

bool MoveToTwoHostsIfAsked() {
  const char* const asked = std::getenv("BRIGADE_TEST_TWO_HOSTS");
  if (asked == nullptr || *asked != '1') return true;
  int runs = 0;
  MPI_Initialized(&runs);
  if (!runs) MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int moved = rank == 1 ? unshare(CLONE_NEWNET) == 0 : 1;
  int pid = getpid();
  MPI_Bcast(&pid, 1, MPI_INT, /*root=*/1, MPI_COMM_WORLD);
  MPI_Bcast(&moved, 1, MPI_INT, /*root=*/1, MPI_COMM_WORLD);
  if (moved && rank > 1 && rank % 2 == 1) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    const int handle = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    moved = setns(handle, CLONE_NEWNET) == 0;
    close(handle);
  }
  MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return moved != 0;
}

}  // namespace brigade
