// Polls MPI in the waits of this library (transport/mpi_polls.h).

#ifndef BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_
#define BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_

#include <memory>

namespace brigade {

// While anybody holds what this returns, waits poll MPI. Local. REQUIRES: MPI is initialised, and
// not finalised; it is let go before MPI is finalised, or in a callback of MPI_Finalize.
std::shared_ptr<const void> PollMpiInWaits();

// Ends the polls of all who hold that now. REQUIRES: as above, to let go.
void StopPollingMpi();

// Polls MPI, which moves messages, unless nobody holds that, another thread is polling, or this
// thread may not call MPI: below MPI_THREAD_SERIALIZED any but the one that initialised it, and all
// in a forked child and behind MPI_Finalize. REQUIRES: the caller is in a call of this library that
// the program counts as an MPI call.
void PollMpi();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_POLLED_MPI_H_
