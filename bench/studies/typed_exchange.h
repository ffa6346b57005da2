// Typed blocks of the exchange study: every rank puts values of a datatype with gaps to its
// neighbour, with start and complete; by messages, the target has kept the datatype, or gets it
// each time.
//
// Source: MPI/SX, section 5, Table 4.

#ifndef BRIGADE_BENCH_STUDIES_TYPED_EXCHANGE_H_
#define BRIGADE_BENCH_STUDIES_TYPED_EXCHANGE_H_

#include "bench/cases/session.h"
#include "bench/contenders/brigade_group.h"
#include "windows/message/window_space.h"

namespace brigade::bench {

// Collective over the session's ranks.
void RunTypedExchange(Session* session, BrigadeGroup* group, WindowSpace* space);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_TYPED_EXCHANGE_H_
