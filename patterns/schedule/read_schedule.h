// ReadSchedule: what one rank does in a call whose ranks read each other's matrices where they lie.
//
// Steps run in their order. Ranks of one host share nothing but the status words of *expose* and
// *done*: they send no messages and use no staging memory.

#ifndef BRIGADE_PATTERNS_SCHEDULE_READ_SCHEDULE_H_
#define BRIGADE_PATTERNS_SCHEDULE_READ_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace brigade {

struct ReadStep {
  enum Opcode : uint8_t {
    kExpose,   // from here on others may read what this rank has written
    kRead,     // copies block `block` of rank `peer`, which has exposed as often as this rank
    kCombine,  // combines the contributions of all ranks to block `block`, as ReadSchedule::order
    kDone,     // this rank reads nothing any more; waits until that holds for all others
  };
  Opcode opcode = kDone;
  int peer = -1;
  // Of patterns that use portions, a portion; of others, an equal share of the matrix.
  int block = -1;
};

struct ReadSchedule {
  // The ranks whose contributions a kCombine takes, from left to right: the others, and last the
  // calling rank.
  std::vector<int> order;
  // Empty: the pattern has no such schedule.
  std::vector<ReadStep> steps;

  // A line per step: for people, and to compare (test/patterns).
  std::string ToString() const;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_READ_SCHEDULE_H_
