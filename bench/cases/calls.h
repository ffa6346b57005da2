// The short BLACS calls that ScaLAPACK makes most, shim beside stock in one process.

#ifndef BRIGADE_BENCH_CASES_CALLS_H_
#define BRIGADE_BENCH_CASES_CALLS_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective over the session's ranks. Ends the job if they are odd in number: they exchange in
// pairs.
void RunCalls(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_CALLS_H_
