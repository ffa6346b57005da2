// Ranks per processor: how many ranks share one, over all machines of a group. Above 1, ranks
// outnumber the processors that they may use.

#ifndef BRIGADE_TRANSPORT_HOST_RANKS_PER_PROCESSOR_H_
#define BRIGADE_TRANSPORT_HOST_RANKS_PER_PROCESSOR_H_

#include <sched.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "transport/host/host.h"

namespace brigade {

// The processors that one rank may use.
struct RankProcessors {
  static RankProcessors Here();

  uint64_t machine;  // on which they are, whatever hosts it counts as
  cpu_set_t allowed;
  int64_t quota;  // of processors' worth of time
};
static_assert(std::is_trivially_copyable_v<RankProcessors>, "exchanged as bytes");

// At least 1.
double RanksPerProcessor(const std::vector<RankProcessors>& ranks);

// Returns whether the ranks of a group on `host` outnumber their processors. A member has a `host`
// and `processors`.
template <typename Member>
bool IsHostCrowded(const Host& host, const std::vector<Member>& members) {
  std::vector<RankProcessors> here;
  for (const Member& member : members) {
    if (member.host == host) here.push_back(member.processors);
  }
  return RanksPerProcessor(here) > 1;
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_RANKS_PER_PROCESSOR_H_
