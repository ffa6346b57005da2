// The whole-group checker: runs the schedules of all ranks of a group on symbols instead of data
// and proves them right.
//
// A group's execution is a dataflow network: ranks share nothing but first-in first-out channels,
// every step waits for a condition that, once true, stays true until that step runs, and no step
// chooses. The network has one outcome whatever the timing, so one execution decides for all.
// The checker takes the most pessimistic transport the contract allows: a send completes only when
// its receive was posted (nothing is buffered), and where messages land in the sender's memory,
// only when the receiver and everyone it forwarded to have let go (a lease on the sender's memory
// occupies none of the receiver's). A group on several hosts has both kinds of edges.
//
// The checker proves: every send meets one receive for the same segment; no slot is read before it
// is filled, written while it is sent, or written at all if it was received; no deadlock with the
// given number of slots; the result is what the pattern promises, combined from every rank exactly
// once in the documented order, and with the same association on all ranks.

#ifndef BRIGADE_PATTERNS_CHECK_SCHEDULE_CHECK_H_
#define BRIGADE_PATTERNS_CHECK_SCHEDULE_CHECK_H_

#include <cstdint>
#include <vector>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/check/check_case.h"

namespace brigade {

// Counts of the actions of one rank.
struct CheckCounts {
  int64_t copies = 0;
  int64_t combines = 0;
  int64_t messages = 0;
  int64_t crossings = 0;  // messages to other hosts
  int least_slots = 0;    // chunks that the schedule cannot do without, over all streams
  int peak_slots = 0;     // in use at once in this execution; others may use up to least_slots
};

// The schedules of all ranks, from the catalogue. kSend and kReceive: a pair, in which `root`
// sends.
std::vector<Schedule> CompileAll(const CheckCase& c);

// Checks one schedule per rank. kInternal, with case, rank, round and step, for the first
// violation. `counts`, if not null, receives one entry per rank.
Status CheckSchedules(const CheckCase& c, const std::vector<Schedule>& schedules,
                      std::vector<CheckCounts>* counts);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_SCHEDULE_CHECK_H_
