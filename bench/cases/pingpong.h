// Ping-pong: one message there and one back between ranks 0 and 1 (AP3000 paper, figure 3).

#ifndef BRIGADE_BENCH_CASES_PINGPONG_H_
#define BRIGADE_BENCH_CASES_PINGPONG_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks; those above 1 only watch. Ends the job with fewer than two.
void RunPingPong(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_PINGPONG_H_
