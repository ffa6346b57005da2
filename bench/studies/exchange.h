// The exchange study: every rank puts a block to, or gets one from, each of its neighbours, under
// each way of synchronising.
//
// Source: MPI/SX, section 5.

#ifndef BRIGADE_BENCH_STUDIES_EXCHANGE_H_
#define BRIGADE_BENCH_STUDIES_EXCHANGE_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks.
void RunExchange(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_EXCHANGE_H_
