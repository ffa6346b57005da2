// RunModelStudy: the predictions of the cost model for every candidate of a pattern, beside
// measurements; and the library's choice, beside the best.

#ifndef BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_
#define BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_

#include "bench/cases/session.h"

namespace brigade::bench {

// Collective. Measures the edges between the ranks first. Each case is measured twice: the best of
// many candidates in one measurement is slower in the next.
void RunModelStudy(Session* session);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_MODEL_STUDY_H_
