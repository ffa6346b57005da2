// The MPI in this process: whether it is one that this library was built for. Handles of Open MPI
// and of MPICH, with all that share its binary interface, are of different kinds: nothing but the
// version may be asked for where a library of one is in a program of the other. Families are told
// by symbols that one exports and the other does not; vendors put their own names into the version.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
#define BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_

#include <string>

#include "membuf/status.h"

namespace brigade {

// What a program that uses an MPI of the other family than the one this was built for is told, with
// its MPI's name; empty in a program of our own. Needs no MPI_Init. Cost: a symbol lookup.
std::string WrongMpiFamily();

// Whether MPI calls, the program's own among them, reach the MPI that this was built for.
bool ReachesOwnMpi();

// For libraries that take MPI's or others' names, when they are loaded, and for those that start
// MPI: ends the process with that text, in the name of `library`, where the families differ.
void RefuseWrongMpiFamily(const char* library);

// Whether handles, and the status of a message that this process sends to itself, are what the
// <mpi.h> says that this was built with. kUnavailable, with what is not. REQUIRES: MPI is
// initialised. Local.
Status TestMpi();

// All that, before the first use of MPI and behind it: kUnavailable for an MPI of the other family;
// once MPI is initialised, the outcome of TestMpi(), which is asked for once.
Status CheckMpi();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
