// How fast Compute() is.

#ifndef BRIGADE_BENCH_RUNNER_COMPUTE_RATE_H_
#define BRIGADE_BENCH_RUNNER_COMPUTE_RATE_H_

#include <mpi.h>

namespace brigade::bench {

// Collective. Steps of Compute() on rank 0 in a microsecond, while all others sleep; known to all.
double StepsPerMicrosecond(MPI_Comm comm);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_COMPUTE_RATE_H_
