// SystemHandles: the numbers that stand for MPI communicators in the C interface.
//
// C callers name a communicator by an index into this table, Fortran callers by its MPI_Fint; the
// two namespaces have nothing to do with each other (under Open MPI both happen to call
// MPI_COMM_WORLD 0). The table owns no communicator.

#ifndef BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_
#define BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_

#include <mpi.h>

#include <vector>

namespace brigade {
namespace blacs {

class SystemHandles {
 public:
  // Handle 0 is MPI_COMM_WORLD from the start.
  SystemHandles() : communicators_{MPI_COMM_WORLD} {}

  // The handle of `communicator`, the lowest free one if it has none yet. Handles never change
  // while they live.
  int HandleOf(MPI_Comm communicator);
  // MPI_COMM_NULL if there is no such handle.
  MPI_Comm Communicator(int handle) const;
  // Forgets `handle`; false if there is none. Handle 0 stays.
  bool Free(int handle);
  // Forgets `communicator`, which is about to be freed, if it has a handle: its value may come back
  // as another communicator's.
  void Forget(MPI_Comm communicator);

 private:
  std::vector<MPI_Comm> communicators_;  // MPI_COMM_NULL: free
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_
