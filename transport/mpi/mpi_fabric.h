// MPI's settings for messages between hosts.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_
#define BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_

#include "transport/host/fabric.h"

namespace brigade {

// Returns the facts about this process. Makes Open MPI open all of its components, which takes a
// quarter of a second. REQUIRES: MPI is initialised.
FabricFacts FabricHere();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_
