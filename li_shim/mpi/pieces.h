// Pieces of long messages: MPI counts in int.

#ifndef BRIGADE_LI_SHIM_MPI_PIECES_H_
#define BRIGADE_LI_SHIM_MPI_PIECES_H_

#include <algorithm>
#include <cstddef>

#include "membuf/status.h"

namespace brigade {
namespace li {

// Calls call(offset, count) for each piece of `bytes`, until a call fails.
template <typename Call>
Status InPieces(size_t bytes, const Call& call) {
  constexpr size_t kMost = size_t{1} << 30;
  for (size_t done = 0; done < bytes; done += kMost) {
    BRIGADE_RETURN_IF_ERROR(call(done, static_cast<int>(std::min(kMost, bytes - done))));
  }
  return Status();
}

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MPI_PIECES_H_
