// Broadcast and reduce on circulant graphs, and what they share with the two-tree ones.

#ifndef BRIGADE_PATTERNS_CIRCULANT_H_
#define BRIGADE_PATTERNS_CIRCULANT_H_

#include "patterns/compilers.h"
#include "patterns/schedule.h"
#include "patterns/shares.h"

namespace brigade {

// REQUIRES: p.size > 1.
Schedule CirculantBroadcast(const ScheduleParameters& p);
Schedule CirculantReduce(const ScheduleParameters& p);

// The shares of two trees.
inline Shares HalvesOf(int ranks) {
  Shares halves{Shares::kEqual, 2, 2};
  for (int below = ranks; below > 1; below /= 2) ++halves.row;
  return halves;
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CIRCULANT_H_
