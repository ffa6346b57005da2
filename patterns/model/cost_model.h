// CostModel: how long a pattern takes on a machine that is described, without running it.
//
// A closed form per entry of the catalogue, from what its schedule does: the first piece's way
// through the ranks, and what the busiest resource on it needs for every piece more. Agrees with
// the sim transport (test/patterns/cost_model_test.cc says how well), at sizes where nobody would
// simulate.
//
// Of the machine it takes the ports and rates of links, the processor's share of messages, and
// copies and adds; ports that the ranks of a host share, but not on the first piece's way along
// trees, nor in multi-broadcasts by host. Where the ranks share memory (SharedMemory) no byte
// passes a port: its sender copies it once, and all who read it at the same time. Not in it: what
// buses do to each other, and waiting for staging memory.

#ifndef BRIGADE_PATTERNS_MODEL_COST_MODEL_H_
#define BRIGADE_PATTERNS_MODEL_COST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "patterns/schedule/pattern.h"
#include "patterns/schedule/piece_plan.h"
#include "patterns/schedule/topology.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// One call whose cost is asked for, seen from no rank in particular.
struct CostQuery {
  Pattern pattern = Pattern::kBroadcast;
  // Not kFree. Of patterns that know no topologies only by_host counts: that hosts are gone through
  // one after the other.
  Topology topology;
  int ranks = 2;
  // The host of each rank; empty: as the machine deals them, `ranks_per_host` in a row.
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
  size_t piece_bytes = 0;       // as in PatternCall
  // Ranks come one after the other, each as much later than the one before, and this is when the
  // last one comes. The first is, of trees, this one, counted from the root; those after it follow.
  double late_us = 0;
  int first = 0;
};

struct Cost {
  // The time of the rank that is in the call for the longest.
  double us = 0;
  // False of broadcast and reduce along two trees and on circulant graphs, whose ranks have several
  // neighbours each way at once:
  // `us` is what rounds in step would take, but messages get into each other's way at the ports. Up
  // to twice as much has been simulated, half as much again been measured, and more where ranks
  // share the port of their host.
  bool in_step = true;
  int64_t pieces = 1;
  size_t piece_bytes = 0;
  double first_us = 0;  // of us: the way of one piece
  double piece_us = 0;  // what each piece more takes
};

// Whether all ranks of the query read what others have staged where it lies.
bool SharesMemory(const MachineDescription& machine, const CostQuery& query);

// Whether messages go in one round there (Shape::kExchange, else it is a tree; a multi-reduce along
// a circulant graph).
bool GoesInOneRound(const MachineDescription& machine, const CostQuery& query);

// The settings that a group has over `link` of the machine, with chunks and staging memory of the
// given sizes.
PieceSettings SettingsOn(const MachineDescription& machine, const Link& link, size_t chunk_bytes,
                         size_t staging_bytes);

// How the executor cuts a message, a block, or the longest share of a reduce-scatter, or a share
// along a circulant graph.
PiecePlan PlanOf(const PieceSettings& settings, const CostQuery& query);

// O(ranks), of several blocks on circulant graphs O(ranks log^2 ranks); nothing depends on the
// number of pieces. REQUIRES: a topology that the pattern knows; kTwoTree and
// kCirculant not by host.
Cost PredictCost(const MachineDescription& machine, const PieceSettings& settings,
                 const CostQuery& query);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_MODEL_H_
