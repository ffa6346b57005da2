// Broadcast and reduce on circulant graphs, and what they share with the two-tree ones.

#ifndef BRIGADE_PATTERNS_CATALOGUE_CIRCULANT_H_
#define BRIGADE_PATTERNS_CATALOGUE_CIRCULANT_H_

#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

// REQUIRES: p.size > 1.
Schedule CirculantBroadcast(const ScheduleParameters& p);
Schedule CirculantReduce(const ScheduleParameters& p);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_CIRCULANT_H_
