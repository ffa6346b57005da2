// Calibration: what the edges of a group cost, measured among its members and agreed by them.
//
// The first ranks of all hosts, and the ranks of each host, pass a short message along a chain,
// which gives latency. All exchange long ones with their neighbours at the same time, which gives
// the rate of the link, what it passes at once, and what its bytes cost the processor, by its own
// clock. A broadcast in many segments gives the processor's share of a message, the scheduling of
// ranks that share one included. Copies and sums are timed on each rank alone. Where all ranks
// share memory, bytes are copies by both sides, and what the kernel copies is timed, too.

#ifndef BRIGADE_PATTERNS_GROUP_CALIBRATION_H_
#define BRIGADE_PATTERNS_GROUP_CALIBRATION_H_

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "transport/bootstrap.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// Measures `group`, whose members are those of `bootstrap`; collective over them, and the first
// thing that they do with it. group->host_of is equal on all. *machine is then the same on all of
// them, to the bit; *measured is false, on all, where nothing sensible came out. Takes well below a
// second where links pass 40 MB/s or more. Fails on all if it fails on any.
Status Calibrate(Engine* engine, GroupState* group, Bootstrap* bootstrap,
                 MachineDescription* machine, bool* measured);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_CALIBRATION_H_
