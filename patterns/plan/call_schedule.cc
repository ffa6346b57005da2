#include "patterns/plan/call_schedule.h"

namespace brigade {

Schedule CompileSchedule(const CatalogueEntry& entry, const PatternCall& call, const Scope& scope,
                         const HostOfRank& host_of) {
  ScheduleParameters p;
  p.size = scope.size;
  p.rank = scope.rank;
  p.root = call.root;
  p.topology = call.topology;
  p.decreasing = call.decreasing;
  p.in_rank_order = entry.combines && IsInRankOrder(call);
  p.shares_memory = scope.shares_memory();
  p.some_share_memory = scope.some_share_memory();
  // Blocks of one rank, and blocks on a ring, wait for relay: not in another rank's memory, so some
  // ranks that share memory leave it to one of them.
  const bool circulant = call.topology.shape == Shape::kCirculant;
  const bool waits =
      scope.some_share_memory() && (call.pattern == Pattern::kBroadcast
                                        ? circulant
                                        : call.pattern == Pattern::kMultiBroadcast && !circulant);
  if (scope.hosts > 1 && (waits || call.topology.by_host)) {
    for (int r = 0; r < scope.size; ++r) p.hosts.push_back(host_of(scope.GroupRank(r)));
  }
  return entry.compile(p);
}

}  // namespace brigade
