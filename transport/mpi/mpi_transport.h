// mpi: point-to-point messages of MPI, over whatever fabric it has.
//
// Works at every thread level MPI may have been initialised with and calls MPI on the driving
// thread only. Never blocks inside MPI: it polls, so that ranks that share a processor get it.
//
// Own traffic runs on *carriers*: communicators of our own, each a duplicate of the communicator
// that some group was opened with. A group whose members are all in a carrier uses that one, with
// tags of its own; so a program that creates contexts without end makes a communicator only for
// members it has not had lately, or when MPI's tags are used up. Carriers that no group uses are
// freed, the longest unused first, except for the last few.

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
