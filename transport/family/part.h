// Parts: libraries of Brigade that exist once for each family of MPIs, whose handles are of
// different kinds. A part names no MPI that it needs: vendors' files have names of their own, and a
// second MPI would be loaded. A part is therefore opened at its first call, and binds to the MPI of
// the process.

#ifndef BRIGADE_TRANSPORT_FAMILY_PART_H_
#define BRIGADE_TRANSPORT_FAMILY_PART_H_

#include <string>

namespace brigade {

struct Part {
  void* library = nullptr;  // a handle of dlopen; never closed
  std::string why_not;      // if library is null
};

// Opens the part of the library that this is linked into, in its folder:
// libbrigade_<name>_openmpi.so.1 or libbrigade_<name>_mpich.so.1. An MPI that was opened with
// RTLD_LOCAL, as in Python, becomes visible to all.
Part OpenPart(const char* name);

// Returns whether an MPI is loaded, initialised and not finalised. Opens no MPI.
bool MpiRuns();

// Returns the libbrigade_mpi_<family>.so.1 for the loaded MPI, one for all libraries of this
// process: the file that one of them has opened already, or else the file beside the library that
// this is linked into. Null: no MPI is loaded, or there is no file for it. Opens no MPI.
void* OpenMpiPart();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_FAMILY_PART_H_
