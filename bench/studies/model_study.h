// RunModelStudy: how long the cost model says every way of running a pattern takes, beside how long
// it does take; and what the library chooses by itself, beside the best.

#ifndef BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_
#define BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective. Measures the edges between the ranks first. Each case is measured twice: whoever
// takes the best of many from one measurement finds it slower in the next.
void RunModelStudy(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_
