// Ranks per processor: how many ranks share one, over all machines of a group.

#ifndef BRIGADE_PATTERNS_GROUP_RANKS_PER_PROCESSOR_H_
#define BRIGADE_PATTERNS_GROUP_RANKS_PER_PROCESSOR_H_

#include <sched.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace brigade {

// What one rank may run on.
struct RankProcessors {
  static RankProcessors Here();

  uint64_t machine;  // which one, whatever hosts it is said to be
  cpu_set_t allowed;
  int64_t quota;  // of processors' worth of time
};
static_assert(std::is_trivially_copyable_v<RankProcessors>, "exchanged as bytes");

// At least 1.
double RanksPerProcessor(const std::vector<RankProcessors>& ranks);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_RANKS_PER_PROCESSOR_H_
