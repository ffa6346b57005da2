// Checks schedules of zero-copy reads (read_schedule.h): runs the steps of all ranks on symbols.
//
// Steps wait for status words alone, and no step chooses, so the order of events is the same at any
// timing. Vector clocks record it. The check takes less for granted than the protocol, in which all
// ranks agree before the first read. Calls that fail are not checked: test/litmus has models of how
// a rank withdraws.

#ifndef BRIGADE_PATTERNS_CHECK_READ_CHECK_H_
#define BRIGADE_PATTERNS_CHECK_READ_CHECK_H_

#include <vector>

#include "membuf/status.h"
#include "patterns/check/check_case.h"
#include "patterns/schedule/read_schedule.h"

namespace brigade {

// The read schedules of all ranks, from the catalogue. REQUIRES: the pattern has them.
std::vector<ReadSchedule> CompileAllReads(const CheckCase& c);

// Proves: no rank waits for ever; a block is read after it was written, and written only when no
// other rank can read it, by the program too, once the call has returned; the result is what the
// pattern promises. `c`: the topology of which the schedules keep the order. Each block is one
// segment. kInternal, with the rank, for the first violation.
Status CheckReads(const CheckCase& c, const std::vector<ReadSchedule>& schedules);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_READ_CHECK_H_
