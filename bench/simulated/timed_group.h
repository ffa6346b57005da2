// RunTimed: a group of all ranks of a simulated machine, and the time that its calls take.

#ifndef BRIGADE_BENCH_SIMULATED_TIMED_GROUP_H_
#define BRIGADE_BENCH_SIMULATED_TIMED_GROUP_H_

#include <functional>

#include "membuf/status.h"
#include "patterns/group/group.h"
#include "transport/endpoint.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

// To be called by a rank when it is ready: from then on time counts, the same on all ranks.
using StartClock = std::function<void()>;
using TimedBody = std::function<Status(Endpoint*, Group*, const StartClock&)>;

// Runs `body` on every rank of a simulation, each with a group of all. `us`: from the start until
// the last has returned. Without payload lengths alone are simulated.
Status RunTimed(const MachineDescription& machine, int ranks, bool carries_payload,
                const TimedBody& body, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_TIMED_GROUP_H_
