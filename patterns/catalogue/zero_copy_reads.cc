// Multi-broadcast, multi-reduce, all-reduce and all-to-all by zero-copy reads (AP3000 paper section
// 4.2 without staging memory): each rank copies or combines what the others expose.

#include "patterns/catalogue/compilers.h"

namespace brigade {
namespace {

// The other ranks, in the order in which a ring brings their contributions to `rank`.
std::vector<int> AlongRing(const ScheduleParameters& p) {
  std::vector<int> ranks;
  for (int i = 1; i < p.size; ++i) {
    ranks.push_back((p.rank + (p.decreasing ? p.size - i : i)) % p.size);
  }
  return ranks;
}

void ReadAll(const std::vector<int>& peers, ReadSchedule* schedule) {
  for (const int peer : peers) schedule->steps.push_back({ReadStep::kRead, peer});
}

ReadSchedule CombineOwnBlock(const ScheduleParameters& p, const std::vector<int>& peers) {
  ReadSchedule schedule;
  schedule.order = peers;
  schedule.steps = {{ReadStep::kExpose}, {ReadStep::kCombine, p.rank}};
  return schedule;
}

}  // namespace

ReadSchedule ReadMultiBroadcast(const ScheduleParameters& p) {
  ReadSchedule schedule;
  schedule.steps = {{ReadStep::kExpose}};
  ReadAll(AlongRing(p), &schedule);
  schedule.steps.push_back({ReadStep::kDone});
  return schedule;
}

// A rank copies the block that stays, too.
ReadSchedule ReadAllToAll(const ScheduleParameters& p) {
  ReadSchedule schedule = ReadMultiBroadcast(p);
  schedule.steps.insert(schedule.steps.begin() + 1, {ReadStep::kRead, p.rank});
  return schedule;
}

ReadSchedule ReadMultiReduce(const ScheduleParameters& p) {
  ReadSchedule schedule = CombineOwnBlock(p, AlongRing(p));
  schedule.steps.push_back({ReadStep::kDone});
  return schedule;
}

// Each rank combines one share; the others read the sum of it.
ReadSchedule ReadAllReduce(const ScheduleParameters& p) {
  const std::vector<int> peers = AlongRing(p);
  ReadSchedule schedule = CombineOwnBlock(p, peers);
  schedule.steps.push_back({ReadStep::kExpose});
  ReadAll(peers, &schedule);
  schedule.steps.push_back({ReadStep::kDone});
  return schedule;
}

bool ReadsKeepOrder(Pattern pattern, const Topology& topology, int size, bool commutes) {
  const bool either_order = size == 2 && commutes;
  switch (pattern) {
    case Pattern::kMultiBroadcast:
    case Pattern::kAllToAll:
      return true;
    case Pattern::kMultiReduce:
      return either_order || topology.shape != Shape::kCirculant;
    case Pattern::kAllReduce:
      return topology.shape == Shape::kReduceScatterAllgather ||
             (either_order && topology.shape == Shape::kHypercube);
    default:
      return false;
  }
}

}  // namespace brigade
