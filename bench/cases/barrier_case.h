#ifndef BRIGADE_BENCH_CASES_BARRIER_CASE_H_
#define BRIGADE_BENCH_CASES_BARRIER_CASE_H_

#include "bench/cases/spread_data.h"

namespace brigade::bench {

constexpr const char* kBarrier = "barrier";

// No rank may leave before all have come. The check uses the clock, which ranks of one machine
// share, with one rank late; only the order is asserted, no time.
void MeasureBarrier(const Contenders& all);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_BARRIER_CASE_H_
