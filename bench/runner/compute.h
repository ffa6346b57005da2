// Compute: the computation of a program while its messages are on their way.

#ifndef BRIGADE_BENCH_RUNNER_COMPUTE_H_
#define BRIGADE_BENCH_RUNNER_COMPUTE_H_

#include <cstdint>

namespace brigade::bench {

// Keeps one processor busy, and no memory.
inline void Compute(uint64_t steps) {
  volatile double keeps = 1;
  double x = keeps;
  for (uint64_t i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  keeps = x;
}

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_COMPUTE_H_
