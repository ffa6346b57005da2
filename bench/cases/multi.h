// Multi-broadcast and multi-reduce: by themselves, and as broadcasts and reductions in a row.

#pragma once

#include "bench/cases/spread_data.h"

namespace brigade::bench {

void MeasureMultiBroadcast(const Contenders& all, const PanelShape& shape);
void MeasureMultiReduce(const Contenders& all, const PanelShape& shape);

}  // namespace brigade::bench
