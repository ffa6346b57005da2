// Polls MPI in the waits of this library (transport/mpi_polls.h).

#ifndef BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_
#define BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_

#include <memory>

namespace brigade {

// Returns a token: while a copy of it exists, waits poll MPI. Local. REQUIRES: MPI is initialised,
// and not finalised; the token is released before MPI is finalised, or in a callback of
// MPI_Finalize.
std::shared_ptr<const void> PollMpiInWaits();

// Ends the polls of all existing tokens. REQUIRES: as for the release of a token.
void StopPollingMpi();

// Polls MPI, which progresses messages, unless (1) there is no token, (2) another thread is
// polling, (3) this thread may not call MPI: below MPI_THREAD_SERIALIZED any thread except the one
// that initialised it, and all threads in a forked child and after MPI_Finalize. REQUIRES: the
// caller is in a call of this library that the program counts as an MPI call.
void PollMpi();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_
