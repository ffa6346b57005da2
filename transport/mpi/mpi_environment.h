// The state of MPI in this process, and the end of its job.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_ENVIRONMENT_H_
#define BRIGADE_TRANSPORT_MPI_MPI_ENVIRONMENT_H_

namespace brigade {

// Returns whether MPI can be called: between MPI_Init and MPI_Finalize.
bool MpiIsActive();

// Returns the largest tag, MPI_TAG_UB. REQUIRES: MpiIsActive().
int LargestMpiTag();

// Ends the job with exit code `code`, after an error message on stderr; if MPI is not active, the
// process, with EXIT_FAILURE.
[[noreturn]] void EndMpiJob(int code);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_ENVIRONMENT_H_
