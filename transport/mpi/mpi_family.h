// The family of the MPI in this process. Handles of Open MPI and of MPICH, with all that share its
// binary interface, are of different kinds: nothing but the version may be asked for where a
// library of one is in a program of the other.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
#define BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_

#include <string>

namespace brigade {

// What a program that uses an MPI of the other family than the one this was built for is told, with
// its MPI's name; empty in a program of our own. Needs no MPI_Init. Cost: a symbol lookup.
std::string WrongMpiFamily();

// Whether MPI calls, the program's own among them, reach the MPI that this was built for.
bool ReachesOwnMpi();

// For libraries that take MPI's or others' names, when they are loaded: ends the process with that
// text, in the name of `library`, where the families differ.
void RefuseWrongMpiFamily(const char* library);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_FAMILY_H_
