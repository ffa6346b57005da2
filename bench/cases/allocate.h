// Panels in memory of brigade_alloc.

#ifndef BRIGADE_BENCH_CASES_ALLOCATE_H_
#define BRIGADE_BENCH_CASES_ALLOCATE_H_

#include <cstdint>
#include <memory>

namespace brigade::bench {

// Null unless `allocated`: then a panel has its own.
std::shared_ptr<double[]> AllocateIf(bool allocated, int64_t elements);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_ALLOCATE_H_
