// Multi-broadcast and multi-reduce: by themselves, and as broadcasts and reductions in a row.

#ifndef BRIGADE_BENCH_CASES_MULTI_H_
#define BRIGADE_BENCH_CASES_MULTI_H_

#include "bench/cases/spread_data.h"

namespace brigade::bench {

void MeasureMultiBroadcast(const Contenders& all, const PanelShape& shape);
void MeasureMultiReduce(const Contenders& all, const PanelShape& shape);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_MULTI_H_
