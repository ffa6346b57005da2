// mpi: point-to-point messages of MPI, over whatever fabric it has.
//
// Works at every thread level MPI may have been initialised with. Calls MPI on the progress owner's
// thread only. Never blocks inside MPI: it polls, so that ranks that share a processor get it.
//
// Messages use communicators of the library (carriers.h).

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
