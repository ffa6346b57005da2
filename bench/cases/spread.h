// Spread: M x N doubles over a 1 x Q grid (AP3000 paper, table 1). The panel belongs to the ranks
// column by column in turn, as ScaLAPACK distributes it with blocks of one column: rank q owns
// columns q, q + Q, ...

#ifndef BRIGADE_BENCH_CASES_SPREAD_H_
#define BRIGADE_BENCH_CASES_SPREAD_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks.
void RunSpread(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_SPREAD_H_
