// Overlap: how much of a transfer is hidden behind computation that does not call the library.

#ifndef BRIGADE_BENCH_CASES_OVERLAP_H_
#define BRIGADE_BENCH_CASES_OVERLAP_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective; an even number of ranks. Every contender has three subjects: the transfer, the
// computation, and both; the hidden part of the transfer is 1 - (both - computation) / transfer.
void RunOverlap(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_OVERLAP_H_
