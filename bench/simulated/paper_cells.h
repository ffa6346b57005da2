// The cells of Table 1 of the AP3000 paper, and the paper's point-to-point message, on a simulated
// machine.

#ifndef BRIGADE_BENCH_SIMULATED_PAPER_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_PAPER_CELLS_H_

#include <cstddef>
#include <vector>

#include "bench/simulated/paper_patterns.h"
#include "membuf/status.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

// All 96, in the order in which the paper prints them: row by row.
std::vector<PaperCell> PaperCells();

// Microseconds of virtual time from a barrier that takes none until the last rank is done.
// Without payload only lengths are simulated, which takes the same virtual time. With it results
// are checked: kInternal if one is wrong.
Status SimulateCell(const MachineDescription& machine, const PaperCell& cell, bool carries_payload,
                    double* us);

// One way of a ping-pong of contiguous messages between two ranks.
Status SimulateMessage(const MachineDescription& machine, size_t bytes, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PAPER_CELLS_H_
