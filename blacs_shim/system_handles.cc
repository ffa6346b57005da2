#include "blacs_shim/system_handles.h"

#include <algorithm>

namespace brigade {
namespace blacs {

int SystemHandles::HandleOf(MPI_Comm communicator) {
  auto it = std::find(communicators_.begin(), communicators_.end(), communicator);
  if (it == communicators_.end()) {
    it = std::find(communicators_.begin(), communicators_.end(), MPI_COMM_NULL);
    if (it == communicators_.end()) it = communicators_.insert(it, MPI_COMM_NULL);
    *it = communicator;
  }
  return static_cast<int>(it - communicators_.begin());
}

MPI_Comm SystemHandles::Communicator(int handle) const {
  if (handle < 0 || static_cast<size_t>(handle) >= communicators_.size()) return MPI_COMM_NULL;
  return communicators_[handle];
}

bool SystemHandles::Free(int handle) {
  if (Communicator(handle) == MPI_COMM_NULL) return false;
  if (handle != 0) communicators_[handle] = MPI_COMM_NULL;
  return true;
}

void SystemHandles::Forget(MPI_Comm communicator) {
  std::replace(communicators_.begin() + 1, communicators_.end(), communicator, MPI_COMM_NULL);
}

}  // namespace blacs
}  // namespace brigade
