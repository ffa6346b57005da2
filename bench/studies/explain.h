// explain: the candidates of a pattern on a described machine, and what each is predicted to
// take.

#ifndef BRIGADE_BENCH_STUDIES_EXPLAIN_H_
#define BRIGADE_BENCH_STUDIES_EXPLAIN_H_

#include "bench/runner/options.h"
#include "membuf/status.h"

namespace brigade::bench {

// Prints the candidates of `options` on rank 0, and appends the choice to its JSON file, if there
// is one. kInvalidArgument if its machine file is none; kUnavailable naming the file.
Status RunExplain(const Options& options);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_EXPLAIN_H_
