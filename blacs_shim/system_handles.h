// SystemHandles: the numbers that stand for MPI communicators in the C interface.
//
// C callers name a communicator by an index into this table, Fortran callers by its MPI_Fint; the
// two namespaces have nothing to do with each other (under Open MPI both happen to call
// MPI_COMM_WORLD 0). The table owns no communicator.

#ifndef BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_
#define BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace brigade {
namespace blacs {

class SystemHandles {
 public:
  // Handle 0 is MPI_COMM_WORLD from the start.
  SystemHandles() : entries_{Entry{MPI_COMM_WORLD, kNoContext}} {}

  // The handle of `communicator`, the lowest free one if it has none yet. Handles never change
  // while they live. `context`: whose own communicator it is, if any; a handle that an earlier
  // context of this number had, and that was not freed, is used again.
  int HandleOf(MPI_Comm communicator, int context = kNoContext);
  // MPI_COMM_NULL if there is no such handle.
  MPI_Comm Communicator(int handle) const;
  // Frees `handle`; false if there is none. Handle 0 stays.
  bool Free(int handle);
  // Forgets the communicator of `context`, which is about to be freed, if it has a handle: its
  // value may come back as another communicator's. The handle is not given to another one, since
  // its holder may still free it.
  void Forget(MPI_Comm communicator, int context);

 private:
  static constexpr int kNoContext = -1;

  // By default free.
  struct Entry {
    MPI_Comm communicator = MPI_COMM_NULL;
    int context = kNoContext;  // whose communicator is forgotten, while the handle is not freed

    bool operator==(const Entry& other) const {
      return communicator == other.communicator && context == other.context;
    }
  };

  bool Exists(int handle) const {
    return handle >= 0 && static_cast<size_t>(handle) < entries_.size();
  }

  std::vector<Entry> entries_;
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_SYSTEM_HANDLES_H_
