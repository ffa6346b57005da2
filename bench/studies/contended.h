// All ranks fetch and add to one double of rank 0.

#ifndef BRIGADE_BENCH_STUDIES_CONTENDED_H_
#define BRIGADE_BENCH_STUDIES_CONTENDED_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks.
void RunContended(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_CONTENDED_H_
