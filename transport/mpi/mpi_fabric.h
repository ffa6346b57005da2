// What MPI was told to use between hosts.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_
#define BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_

#include "transport/host/fabric.h"

namespace brigade {

// The facts about this process. Has Open MPI open all of its components, which takes a quarter of a
// second. REQUIRES: MPI is initialised.
FabricFacts FabricHere();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_FABRIC_H_
