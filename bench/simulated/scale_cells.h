// The cells of the scale study: a collective on many simulated ranks, along the way this library
// chooses and along the one that Open MPI does.

#ifndef BRIGADE_BENCH_SIMULATED_SCALE_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_SCALE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/simulated/peer_rules.h"
#include "membuf/status.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/model/cost_model.h"
#include "patterns/schedule/topology.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

struct ScaleCell {
  Pattern pattern = Pattern::kBroadcast;
  int ranks = 8;
  size_t bytes = 0;  // of the matrix, or of each rank's block

  bool multi() const {
    return pattern == Pattern::kMultiBroadcast || pattern == Pattern::kMultiReduce;
  }
  size_t total_bytes() const { return multi() ? bytes * static_cast<size_t>(ranks) : bytes; }
};

// Of `pattern`, at 8, 16, ... ranks, `most_ranks` at most, and 8 B, 8 KiB, 64 KiB, 1 MiB and 16
// MiB. Blocks are of 8 bytes, and the others in which all together are so long and each is
// longer.
std::vector<ScaleCell> ScaleCells(Pattern pattern, int most_ranks);

// The library's choice.
struct ScaleChoice {
  Topology topology;
  size_t segment_bytes = 0;  // as in PatternCall
  Cost cost;
  int64_t messages = 0;  // of all ranks; a simulation's time is proportional
};

enum class Chooser : uint8_t {
  // The library, as for a call with a free topology where every link's costs are known. The order
  // of a reduction's sums is part of its result, so its topology is that of all machines, and only
  // its segments are chosen by the cost model.
  kLibrary,
  // A call that names the topology that is the fastest by the cost model; it goes by rank then.
  kBestByName,
};

ScaleChoice ChooseFor(const MachineDescription& machine, const ScaleCell& cell, Chooser chooser);

// Microseconds of virtual time from the first rank's call to the last one's return; of doubles, in
// contiguous matrices.
Status SimulateChoice(const MachineDescription& machine, const ScaleCell& cell,
                      const ScaleChoice& choice, double* us);
// The result of Open MPI's algorithm; counts are of all ranks.
struct PeerResult {
  double us = 0;
  uint64_t messages = 0;
  uint64_t bytes_sent = 0;
  uint64_t bytes_combined = 0;
};
Status SimulatePeer(const MachineDescription& machine, const ScaleCell& cell,
                    PeerAlgorithm algorithm, PeerResult* result);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_SCALE_CELLS_H_
