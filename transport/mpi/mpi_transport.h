// mpi: point-to-point messages of MPI, over whatever fabric it has.
//
// Works at every thread level MPI may have been initialised with. Calls MPI on the progress owner's
// thread only. Never blocks inside MPI: it polls, so that ranks that share a processor get it.
//
// Messages use *carriers*: communicators of the library, each a duplicate of the communicator of
// some group. A group whose members are all in a carrier uses it, with tags of its own: a program
// that creates contexts in a loop makes a communicator only for members that it has not had
// recently, or when MPI's tags are used up. Unused carriers are freed, the longest unused first,
// except for the last few.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_TRANSPORT_H_
#define BRIGADE_TRANSPORT_MPI_MPI_TRANSPORT_H_

#include <memory>

#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

// Local. Groups are opened with an MpiBootstrap. kUnavailable unless MPI is initialised. Destroy
// the endpoint on every rank and before MPI_Finalize: it frees communicators.
Status CreateMpiEndpoint(std::unique_ptr<Endpoint>* endpoint);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_TRANSPORT_H_
