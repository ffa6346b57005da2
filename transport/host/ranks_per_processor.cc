#include "transport/host/ranks_per_processor.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace brigade {

RankProcessors RankProcessors::Here() {
  static const int quota = ProcessorQuota();  // reads files
  return {std::hash<std::string>()(Host::Here().boot_id), AllowedProcessors(), quota};
}

double RanksPerProcessor(const std::vector<RankProcessors>& ranks) {
  std::map<uint64_t, RankProcessors> machines;
  for (const RankProcessors& rank : ranks) {
    RankProcessors& here = machines.emplace(rank.machine, rank).first->second;
    CPU_OR(&here.allowed, &here.allowed, &rank.allowed);
    here.quota = std::max(here.quota, rank.quota);
  }
  int64_t processors = 0;
  for (const auto& [machine, here] : machines) {
    processors += std::min<int64_t>(CPU_COUNT(&here.allowed), here.quota);
  }
  return std::max(1.0, static_cast<double>(ranks.size()) /
                           static_cast<double>(std::max<int64_t>(processors, 1)));
}

}  // namespace brigade
