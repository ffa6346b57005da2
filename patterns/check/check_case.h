// CheckCase: the case that the checker proves: one pattern of one group, and how its messages are
// cut.

#ifndef BRIGADE_PATTERNS_CHECK_CHECK_CASE_H_
#define BRIGADE_PATTERNS_CHECK_CHECK_CASE_H_

#include <vector>

#include "patterns/schedule/pattern.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/topology.h"

namespace brigade {

struct CheckCase {
  Pattern pattern = Pattern::kBarrier;
  Topology topology;
  int size = 1;
  int root = 0;
  bool decreasing = false;
  bool in_rank_order = false;    // of ScheduleParameters
  bool separate_source = false;  // contributions are not in the memory that gets the result
  // Segments of the matrix, or, where there are blocks, of each (may differ, may be 0), or, where
  // the matrix is cut, of each share. Of an all-to-all: of the block from rank r to rank q, at
  // r * size + q.
  std::vector<int> segments;
  // Per stream; kMinSlots: as few as each says.
  int slots = kMinSlots;
  bool lands_in_peer_memory = false;  // within a host
  bool shares_memory = false;         // of ScheduleParameters
  bool some_share_memory = false;     // the same
  // Of each rank; empty: all on one. And whether messages go by it.
  std::vector<int> hosts;
  bool by_host = false;

  std::vector<int> HostsToGoBy() const { return by_host ? hosts : std::vector<int>(); }
  bool OnOneHost(int a, int b) const {
    return hosts.empty() || hosts[static_cast<size_t>(a)] == hosts[static_cast<size_t>(b)];
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_CHECK_CASE_H_
