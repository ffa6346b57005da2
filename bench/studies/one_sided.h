// Single operations of rank 0 on the memory of rank 1: latency, rate, puts with notification, and
// puts to a target that computes.

#ifndef BRIGADE_BENCH_STUDIES_ONE_SIDED_H_
#define BRIGADE_BENCH_STUDIES_ONE_SIDED_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks.
void RunOneSided(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_ONE_SIDED_H_
