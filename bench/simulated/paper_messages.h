// Section 5.2 and the end of section 5.1 of the AP3000 paper on a simulated machine: sends of
// blocks with gaps, and broadcasts along a ring, beside BLACS over the machine's MPI.

#ifndef BRIGADE_BENCH_SIMULATED_PAPER_MESSAGES_H_
#define BRIGADE_BENCH_SIMULATED_PAPER_MESSAGES_H_

#include <cstddef>

#include "membuf/status.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

enum class Library {
  kBrigade,
  // Packs into a buffer, also what has no gaps: its sends return at once. Sends whole messages, and
  // receives them into a buffer if they have gaps.
  kBlacs,
};

// One way of a ping-pong of `bytes`, in runs of `run_bytes` at twice that distance; 0: contiguous.
Status SimulateSend(const MachineDescription& machine, Library library, size_t bytes,
                    size_t run_bytes, double* us);

// A broadcast of `bytes` from each rank in turn along the ring, all together.
Status SimulateRingBroadcasts(const MachineDescription& machine, Library library, int ranks,
                              size_t bytes, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PAPER_MESSAGES_H_
