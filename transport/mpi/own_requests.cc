#include "transport/mpi/own_requests.h"

#include "transport/mpi/mpi_time.h"

namespace brigade {
namespace {

thread_local bool is_inside = false;

}  // namespace

int TestOwn(MPI_Request* request, int* is_over, MPI_Status* status) {
  const MpiCall counted;
  is_inside = true;
  const int error = MPI_Test(request, is_over, status);
  is_inside = false;
  return error;
}

int TestSomeOwn(int count, MPI_Request requests[], int* done, int indices[],
                MPI_Status statuses[]) {
  const MpiCall counted;
  is_inside = true;
  const int error = MPI_Testsome(count, requests, done, indices, statuses);
  is_inside = false;
  return error;
}

bool IsTestingOwn() { return is_inside; }

}  // namespace brigade
