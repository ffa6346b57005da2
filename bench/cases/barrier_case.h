#pragma once

#include "bench/cases/spread_data.h"

namespace brigade::bench {

constexpr const char* kBarrier = "barrier";

// Nobody may leave before all have come. That is checked by the clock, which ranks of one machine
// share, with one rank late; no time is asserted but the order.
void MeasureBarrier(const Contenders& all);

}  // namespace brigade::bench
