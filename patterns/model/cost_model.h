// CostModel: how long a pattern takes on a machine that is described, without running it.
//
// A closed form per entry of the catalogue, from what its schedule does: the first segment's
// latency through the ranks, and what the busiest resource needs for each further segment. Agrees
// with the sim transport (test/patterns/cost_model_test.cc says how well), at sizes where nobody
// would simulate.
//
// Of the machine it takes the ports and rates of links, the processor's share of messages, and
// copies and adds; ports that the ranks of a host share, but not by the first segment along trees,
// nor in multi-broadcasts by host. Where the ranks share memory (SharedMemory) no byte
// passes a port: its sender copies it once, and all who read it at the same time. Not in it: what
// buses do to each other, and waiting for staging memory.

#ifndef BRIGADE_PATTERNS_MODEL_COST_MODEL_H_
#define BRIGADE_PATTERNS_MODEL_COST_MODEL_H_

#include <cstddef>
#include <cstdint>

#include "patterns/model/cost_query.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/machines/machine_description.h"

namespace brigade {

struct Cost {
  // The time of the rank that is in the call for the longest.
  double us = 0;
  // False of broadcast and reduce along two trees and on circulant graphs, whose ranks have several
  // neighbours in both directions at once: `us` is what rounds in step would take, but messages
  // wait for each other at the ports. Up to twice as much has been simulated, half as much again
  // been measured, and more where ranks share the port of their host.
  bool in_step = true;
  int64_t segments = 1;
  size_t segment_bytes = 0;
  double first_us = 0;    // of us: the latency of the first segment
  double segment_us = 0;  // what each segment more takes
};

// The settings that a group has over `link` of the machine, with chunks and staging memory of the
// given sizes.
SegmentSettings SettingsOn(const MachineDescription& machine, const Link& link, size_t chunk_bytes,
                           size_t staging_bytes);

// How the executor cuts a message, a block, or the longest share of a reduce-scatter, or a share
// along a circulant graph.
SegmentPlan PlanOf(const MachineDescription& machine, const SegmentSettings& settings,
                   const CostQuery& query);

// O(ranks), of several blocks on circulant graphs O(ranks log^2 ranks); nothing depends on the
// number of segments. REQUIRES: a topology that the pattern knows; kTwoTree and
// kCirculant not by host.
Cost PredictCost(const MachineDescription& machine, const SegmentSettings& settings,
                 const CostQuery& query);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_MODEL_H_
