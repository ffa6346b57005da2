// explain: the candidates of a pattern on a described machine, what each is predicted to take, and
// the plan of a call.

#ifndef BRIGADE_BENCH_STUDIES_EXPLAIN_H_
#define BRIGADE_BENCH_STUDIES_EXPLAIN_H_

#include "bench/runner/options.h"
#include "membuf/status.h"

namespace brigade::bench {

// Prints the candidates of `options` and the plan on rank 0, and appends the plan to its JSON file,
// if there is one. kInvalidArgument if its machine file is none, or no rank can make such a call;
// kUnavailable naming the file.
Status RunExplain(const Options& options);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_EXPLAIN_H_
