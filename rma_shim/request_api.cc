// MPI's calls that wait for requests, or test them. While requests of ours are under way, these
// calls move our windows, too; otherwise they are the MPI's after one look.

#include <mpi.h>

#include <thread>
#include <vector>

#include "rma_shim/errors.h"
#include "rma_shim/original.h"
#include "rma_shim/public.h"
#include "rma_shim/requests.h"
#include "rma_shim/runtime.h"
#include "transport/mpi/own_requests.h"

// Since MPI 4.1; the program's MPI may have them although the one that this was built with does
// not. For a program that finds them here by dlsym under an older MPI, they are made of
// MPI_Request_get_status.
extern "C" {
int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* is_over,
                                MPI_Status* status);
int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* is_over,
                                MPI_Status statuses[]);
int PMPI_Request_get_status_some(int count, const MPI_Request requests[], int* done, int indices[],
                                 MPI_Status statuses[]);
}

namespace {

using brigade::rma::Requests;
using brigade::rma::Runtime;

// Whether requests of ours are under way, after they got a chance.
bool Progress() {
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr || brigade::IsTestingOwn()) return false;
  std::vector<Requests::Failure> failures;
  {
    const Runtime::Entry entry(runtime);
    Requests* const requests = runtime->requests();
    if (requests->any()) requests->Progress(&failures);
    if (failures.empty()) return requests->any();
  }
  for (const Requests::Failure& failure : failures) {
    brigade::rma::Raise(failure.window, "a request of one-sided communication", failure.error,
                        failure.text, /*prints=*/true);
  }
  return Progress();
}

// Until `test(&is_over)`, a call of the MPI, says so or fails. `wait`, another, may be taken once
// nothing is under way but what is the MPI's.
template <typename Test, typename Wait>
int AwaitWith(const Test& test, const Wait& wait) {
  while (Progress()) {
    int is_over = 0;
    const int error = test(&is_over);
    if (error != MPI_SUCCESS || is_over) return error;
    std::this_thread::yield();
  }
  return wait();
}

MPI_Status* NthStatus(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// The calls of MPI 4.1, except that they cannot detect inactive persistent requests, which count as
// complete.

int LookAtAny(int count, const MPI_Request requests[], int* index, int* is_over,
              MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *is_over = 1;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int error = ORIGINAL(Request_get_status)(requests[i], is_over, status);
    if (error != MPI_SUCCESS) return error;
    if (!*is_over) continue;
    *index = i;
    return MPI_SUCCESS;
  }
  if (!*is_over) return MPI_SUCCESS;
  return ORIGINAL(Request_get_status)(MPI_REQUEST_NULL, is_over, status);  // an empty status
}

int LookAtAll(int count, const MPI_Request requests[], int* is_over, MPI_Status statuses[]) {
  *is_over = 1;
  for (int i = 0; i < count && *is_over; ++i) {
    const int error = ORIGINAL(Request_get_status)(requests[i], is_over, NthStatus(statuses, i));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int LookAtSome(int count, const MPI_Request requests[], int* done, int indices[],
               MPI_Status statuses[]) {
  *done = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    if (*done == MPI_UNDEFINED) *done = 0;
    int is_over = 0;
    const int error =
        ORIGINAL(Request_get_status)(requests[i], &is_over, NthStatus(statuses, *done));
    if (error != MPI_SUCCESS) return error;
    if (is_over) indices[(*done)++] = i;
  }
  return MPI_SUCCESS;
}

}  // namespace

PUBLIC(Wait, (MPI_Request * request, MPI_Status* status)) {
  return AwaitWith([&](int* is_over) { return ORIGINAL(Test)(request, is_over, status); },
                   [&] { return ORIGINAL(Wait)(request, status); });
}

PUBLIC(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status)) {
  return AwaitWith(
      [&](int* is_over) { return ORIGINAL(Testany)(count, requests, index, is_over, status); },
      [&] { return ORIGINAL(Waitany)(count, requests, index, status); });
}

PUBLIC(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[])) {
  return AwaitWith(
      [&](int* is_over) { return ORIGINAL(Testall)(count, requests, is_over, statuses); },
      [&] { return ORIGINAL(Waitall)(count, requests, statuses); });
}

PUBLIC(Waitsome,
       (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[])) {
  return AwaitWith(
      [&](int* is_over) {
        const int error = ORIGINAL(Testsome)(count, requests, done, indices, statuses);
        *is_over = *done != 0;  // MPI_UNDEFINED: there are none
        return error;
      },
      [&] { return ORIGINAL(Waitsome)(count, requests, done, indices, statuses); });
}

PUBLIC(Test, (MPI_Request * request, int* is_over, MPI_Status* status)) {
  Progress();
  return ORIGINAL(Test)(request, is_over, status);
}

PUBLIC(Testany, (int count, MPI_Request requests[], int* index, int* is_over, MPI_Status* status)) {
  Progress();
  return ORIGINAL(Testany)(count, requests, index, is_over, status);
}

PUBLIC(Testall, (int count, MPI_Request requests[], int* is_over, MPI_Status statuses[])) {
  Progress();
  return ORIGINAL(Testall)(count, requests, is_over, statuses);
}

PUBLIC(Testsome,
       (int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[])) {
  Progress();
  return ORIGINAL(Testsome)(count, requests, done, indices, statuses);
}

PUBLIC(Request_get_status, (MPI_Request request, int* is_over, MPI_Status* status)) {
  Progress();
  return ORIGINAL(Request_get_status)(request, is_over, status);
}

PUBLIC(Request_get_status_any,
       (int count, const MPI_Request requests[], int* index, int* is_over, MPI_Status* status)) {
  Progress();
  auto* const look = ORIGINAL_IF_THERE(Request_get_status_any);
  return (look != nullptr ? look : LookAtAny)(count, requests, index, is_over, status);
}

PUBLIC(Request_get_status_all,
       (int count, const MPI_Request requests[], int* is_over, MPI_Status statuses[])) {
  Progress();
  auto* const look = ORIGINAL_IF_THERE(Request_get_status_all);
  return (look != nullptr ? look : LookAtAll)(count, requests, is_over, statuses);
}

PUBLIC(Request_get_status_some,
       (int count, const MPI_Request requests[], int* done, int indices[], MPI_Status statuses[])) {
  Progress();
  auto* const look = ORIGINAL_IF_THERE(Request_get_status_some);
  return (look != nullptr ? look : LookAtSome)(count, requests, done, indices, statuses);
}
