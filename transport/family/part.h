// Parts: libraries of ours of which there is one for each family of MPIs, whose handles are of
// different kinds. None names an MPI that it needs: vendors' files have names of their own, and a
// second MPI would be loaded. So a part is opened when it is first called, by the MPI that the
// process has then, and finds that.

#ifndef BRIGADE_TRANSPORT_FAMILY_PART_H_
#define BRIGADE_TRANSPORT_FAMILY_PART_H_

#include <string>

namespace brigade {

struct Part {
  void* library = nullptr;  // as dlopen has it; it stays
  std::string why_not;      // there is none
};

// Opens the part of the library that this is linked into, which lies beside it:
// libbrigade_<name>_openmpi.so.0 or libbrigade_<name>_mpich.so.0. An MPI that only some see, as in
// Python, all see from now on.
Part OpenPart(const char* name);

// The libbrigade_mpi_<family>.so.0 for the MPI that is loaded, which is that of all libraries of
// this process: the one that one of them has opened already, else the one beside the library that
// this is linked into. Null: no MPI is loaded, or there is no such file. Opens no MPI.
void* OpenMpiPart();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_FAMILY_PART_H_
