// calibrate: what the edges of this job's ranks cost, as a machine file.

#ifndef BRIGADE_BENCH_STUDIES_CALIBRATE_H_
#define BRIGADE_BENCH_STUDIES_CALIBRATE_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective. Rank 0 prints the file.
void RunCalibrate(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_CALIBRATE_H_
