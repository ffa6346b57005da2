// Gather, scatter, all-to-all, scan and exscan, beside the collectives of MPI.

#ifndef BRIGADE_BENCH_CASES_BLOCKS_H_
#define BRIGADE_BENCH_CASES_BLOCKS_H_

#include "bench/cases/spread_data.h"

namespace brigade::bench {

// One root, rotating from run to run.
void MeasureGather(const Contenders& all, const PanelShape& shape);
void MeasureScatter(const Contenders& all, const PanelShape& shape);
// Blocks of equal sizes: columns that are left over stay where they are.
void MeasureAllToAll(const Contenders& all, const PanelShape& shape);
void MeasureScan(const Contenders& all, const PanelShape& shape);
void MeasureExscan(const Contenders& all, const PanelShape& shape);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_BLOCKS_H_
