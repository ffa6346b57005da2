// NasRandom: the random numbers of the NAS benchmarks, x := 5^13 x modulo 2^46, over 2^46.
//
// Source: The NAS Parallel Benchmarks, RNR-91-002, section 2.3.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_NAS_RANDOM_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_NAS_RANDOM_H_

#include <cstdint>

namespace brigade::bench {

class NasRandom {
 public:
  // In the open interval from 0 to 1.
  double Next() {
    constexpr uint64_t kFactor = 1220703125;
    constexpr uint64_t kMask = (uint64_t{1} << 46) - 1;
    // The low bits of a product are those of the product modulo 2^64.
    x_ = x_ * kFactor & kMask;
    return static_cast<double>(x_) / static_cast<double>(kMask + 1);
  }

 private:
  uint64_t x_ = 314159265;  // the seed of all benchmarks
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_NAS_RANDOM_H_
