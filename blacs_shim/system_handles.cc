#include "blacs_shim/system_handles.h"

#include <algorithm>

namespace brigade {
namespace blacs {

int SystemHandles::HandleOf(MPI_Comm communicator, int context) {
  const auto find = [this](const Entry& wanted) {
    return std::find(entries_.begin(), entries_.end(), wanted);
  };
  auto it = find({communicator, kNoContext});
  if (it == entries_.end()) {
    it = find({MPI_COMM_NULL, context});
    if (it == entries_.end()) it = find({MPI_COMM_NULL, kNoContext});
    if (it == entries_.end()) it = entries_.insert(it, Entry{});
    *it = Entry{communicator, kNoContext};
  }
  return static_cast<int>(it - entries_.begin());
}

MPI_Comm SystemHandles::Communicator(int handle) const {
  return Exists(handle) ? entries_[handle].communicator : MPI_COMM_NULL;
}

bool SystemHandles::Free(int handle) {
  if (!Exists(handle) || entries_[handle] == Entry{}) return false;
  if (handle != 0) entries_[handle] = Entry{};
  return true;
}

void SystemHandles::Forget(MPI_Comm communicator, int context) {
  std::replace(entries_.begin() + 1, entries_.end(), Entry{communicator, kNoContext},
               Entry{MPI_COMM_NULL, context});
}

}  // namespace blacs
}  // namespace brigade
