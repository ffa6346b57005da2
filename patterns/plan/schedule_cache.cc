#include "patterns/plan/schedule_cache.h"

namespace brigade {

const Schedule* ScheduleCache::FindOrCompile(const Key& key, const CatalogueEntry& entry,
                                             const PatternCall& call, const Scope& scope,
                                             bool by_host, const HostOfRank& host_of) {
  std::unique_ptr<const Schedule>& schedule = schedules_[key];
  if (schedule == nullptr) {
    ScheduleParameters p;
    p.size = scope.size;
    p.rank = scope.rank;
    p.root = call.root;
    p.topology = call.topology;
    p.decreasing = call.decreasing;
    p.in_rank_order = entry.combines && IsInRankOrder(call);
    p.shares_memory = scope.shares_memory();
    p.some_share_memory = scope.some_share_memory();
    for (int r = 0; by_host && r < scope.size; ++r) {
      p.hosts.push_back(host_of(scope.GroupRank(r)));
    }
    schedule = std::make_unique<const Schedule>(entry.compile(p));
  }
  return schedule.get();
}

}  // namespace brigade
