// Pauses: makes a rank late at random, to show that results do not depend on which rank is faster.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_PAUSES_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_PAUSES_H_

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

namespace brigade::bench {

class Pauses {
 public:
  // Of up to so long; 0: none. Seeds differ by rank.
  Pauses(int microseconds, uint64_t seed) : any_(0, microseconds), random_(seed) {}

  void Take() {
    if (any_.max() != 0) std::this_thread::sleep_for(std::chrono::microseconds(any_(random_)));
  }

 private:
  std::uniform_int_distribution<int> any_;
  std::mt19937_64 random_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_PAUSES_H_
