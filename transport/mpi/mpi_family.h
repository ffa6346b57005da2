// The MPI in this process: whether this library was built for it. Open MPI, and MPICH with all MPIs
// that share its binary interface, have handles of different kinds: a library for one family in a
// program of the other may only get the version. Families are distinguished by symbols that
// only one of them exports; vendors put their own names into the version.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
#define BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_

#include <string>

#include "membuf/status.h"

namespace brigade {

// Returns an error text, with the name of the program's MPI, if that is of another family than the
// one that this was built for; empty otherwise. Needs no MPI_Init. Cost: a symbol lookup.
std::string WrongMpiFamily();

// Returns whether MPI calls, also the program's own, reach the MPI that this was built for.
bool ReachesOwnMpi();

// Ends the process with that text, in the name of `library`, if the families differ. For libraries
// that intercept names of MPI or others, at load time, and for those that start MPI.
void RefuseWrongMpiFamily(const char* library);

// Tests whether handles, and the status of a message that this process sends to itself, are as in
// the <mpi.h> of the build. kUnavailable, with the difference. REQUIRES: MPI is initialised. Local.
Status TestMpi();

// Runs these checks, before the first use of MPI and after it. kUnavailable: an MPI of the other
// family; once MPI is initialised, the outcome of TestMpi(), which runs once.
Status CheckMpi();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
