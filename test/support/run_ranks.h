// RunRanks: the ranks of a job as threads of the test.

#ifndef BRIGADE_TEST_SUPPORT_RUN_RANKS_H_
#define BRIGADE_TEST_SUPPORT_RUN_RANKS_H_

#include <functional>

#include "transport/inproc/inproc_transport.h"

namespace brigade {

// Runs body(world, rank) on one thread per rank of a fresh world and returns when all have
// returned. A rank whose body returns is marked lost, so that no rank waits for a failed one; the
// first exception is rethrown. If the ranks still hang, the stacks of all are printed and the
// process aborts.
void RunRanks(int ranks, const InprocOptions& options,
              const std::function<void(InprocWorld& world, int rank)>& body);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_RUN_RANKS_H_
