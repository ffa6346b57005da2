// Tests of requests that are the transport's own. Libraries that take MPI's calls over, to move
// windows meanwhile, let these pass: they come from within what moves windows.

#ifndef BRIGADE_TRANSPORT_MPI_OWN_REQUESTS_H_
#define BRIGADE_TRANSPORT_MPI_OWN_REQUESTS_H_

#include <mpi.h>

namespace brigade {

// As MPI_Test and MPI_Testsome.
int TestOwn(MPI_Request* request, int* is_over, MPI_Status* status);
int TestSomeOwn(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]);

// Whether this thread is inside one of them.
bool IsTestingOwn();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_OWN_REQUESTS_H_
