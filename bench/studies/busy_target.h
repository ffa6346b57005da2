// Lock, put and unlock of rank 0 on rank 1, which sleeps or computes meanwhile. Rank 0 alone is
// timed.
//
// Source: MPI/SX, section 2: progress within calls of the library only.

#ifndef BRIGADE_BENCH_STUDIES_BUSY_TARGET_H_
#define BRIGADE_BENCH_STUDIES_BUSY_TARGET_H_

#include <cstdint>

#include "bench/studies/window_contenders.h"

namespace brigade::bench {

// Collective over the session's ranks. So many doubles are put.
void MeasureBusyTarget(const WindowContenders& all, int64_t doubles);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_BUSY_TARGET_H_
