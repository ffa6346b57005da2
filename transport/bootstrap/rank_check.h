// The check of the position that a program gives a process in a new group.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_RANK_CHECK_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_RANK_CHECK_H_

#include <string>

#include "membuf/status.h"

namespace brigade {

// kInvalidArgument: `size` is below 1, or `rank` is not in [0, size).
inline Status CheckRank(int rank, int size) {
  if (size >= 1 && rank >= 0 && rank < size) return Status();
  return Status(StatusCode::kInvalidArgument,
                "rank " + std::to_string(rank) + " of " + std::to_string(size) +
                    ": a bootstrap has at least 1 rank, and ranks are numbered from 0");
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_RANK_CHECK_H_
