// SystemHandles: the numbers of MPI communicators in the C interface.
//
// C callers name a communicator by an index into this table, Fortran callers by its MPI_Fint; the
// two namespaces are independent (under Open MPI MPI_COMM_WORLD is 0 in both). The table owns no
// communicator.

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

  // Returns the handle of `communicator`, the lowest free one if it has none yet. Handles never
  // change while they live. `context`: the context that owns the communicator, if any; a handle of
  // an earlier context of this number that was not freed is reused.
  int HandleOf(MPI_Comm communicator, int context = kNoContext);
  // MPI_COMM_NULL if there is no such handle.
  MPI_Comm Communicator(int handle) const;
  // Frees `handle`; false if there is none. Handle 0 stays.
  bool Free(int handle);
  // Removes the communicator of `context`, which is about to be freed, if it has a handle: MPI may
  // reuse its value for another communicator. Only a later context of this number gets the handle:
  // its holder may still free it.
  void Forget(MPI_Comm communicator, int context);

 private:
  static constexpr int kNoContext = -1;

  // Free by default.
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
