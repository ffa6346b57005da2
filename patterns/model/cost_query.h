// CostQuery: a call whose cost is to be predicted.

#ifndef BRIGADE_PATTERNS_MODEL_COST_QUERY_H_
#define BRIGADE_PATTERNS_MODEL_COST_QUERY_H_

#include <cstddef>
#include <vector>

#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// One call, seen from no rank in particular.
struct CostQuery {
  Pattern pattern = Pattern::kBroadcast;
  // Not kFree. Of patterns that know no topologies only by_host counts: that hosts are gone through
  // one after the other.
  Topology topology;
  int ranks = 2;
  int root = 0;  // of a gather or a scatter; other patterns are predicted for rank 0
  // The host of each rank; empty: as on the machine, `ranks_per_host` in a row.
  std::vector<int> hosts;
  // Ranks of a host read where others' chunks lie: one message is there for all of them, which no
  // closed form knows.
  bool some_share_memory = false;
  // Of an all-to-all: whether all blocks are equally long. If not, the ring is its only topology.
  bool equal_blocks = true;
  // Of the matrix; of multi-broadcast and multi-reduce, of every block.
  size_t bytes = 0;
  size_t elem_bytes = 8;
  size_t run_bytes = SIZE_MAX;  // of contiguous user memory
  size_t segment_bytes = 0;     // as in PatternCall
  // Ranks come one after the other, each as much later than the one before, and this is when the
  // last one comes. The first is, of trees, this one, counted from the root; those after it follow.
  double late_us = 0;
  int first = 0;
};

// Whether all ranks of the query read what others have staged where it lies.
bool SharesMemory(const MachineDescription& machine, const CostQuery& query);

// Whether messages go in one round there (Shape::kExchange, else it is a tree; a multi-reduce along
// a circulant graph).
bool GoesInOneRound(const MachineDescription& machine, const CostQuery& query);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_QUERY_H_
