#include "patterns/model/cost_query.h"

#include <algorithm>

#include "patterns/catalogue/exchange.h"

namespace brigade {

bool SharesMemory(const MachineDescription& machine, const CostQuery& query) {
  if (!machine.shared_memory.is_shared) return false;
  if (query.hosts.empty()) return machine.HostOf(query.ranks - 1) == 0;
  return std::all_of(query.hosts.begin(), query.hosts.end(),
                     [&](int host) { return host == query.hosts.front(); });
}

bool GoesInOneRound(const MachineDescription& machine, const CostQuery& query) {
  ScheduleParameters p;
  p.size = query.ranks;
  p.topology = query.topology;
  p.shares_memory = SharesMemory(machine, query);
  if (query.pattern == Pattern::kMultiReduce) {
    return ExchangesBlocks(p.topology, p.size, p.shares_memory);
  }
  return Exchanges(p, query.pattern == Pattern::kAllReduce ? kMostLevelsToAll : kMostLevelsToOne);
}

}  // namespace brigade
