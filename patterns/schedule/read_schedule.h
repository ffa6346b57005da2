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

// A block is PatternCall::blocks[i], of patterns with blocks, or else an equal share of the matrix.
// Block q is that of rank q.
struct ReadStep {
  enum Opcode : uint8_t {
    // The blocks of this rank, as they are now, may be read. The first time all ranks agree on it.
    kExpose,
    // Waits until rank `block` has exposed as often as this rank; copies block `block`. In an
    // all-to-all: the block that rank `block`, which may be this one, has for this rank.
    kRead,
    kCombine,  // waits for that of all other ranks; combines all contributions to block `block`
    kDone,     // this rank reads nothing any more; waits until that holds for all others
  };
  Opcode opcode = kDone;
  int block = -1;
};

struct ReadSchedule {
  // Times that a rank may expose: status words distinguish no more.
  static constexpr int kMostExposures = 2;

  // Of a kCombine: the other ranks, whose contributions are taken from left to right. The calling
  // rank's is the last operand.
  std::vector<int> order;
  // Empty: the pattern has no such schedule.
  std::vector<ReadStep> steps;

  // A line per step: for people, and to compare (test/patterns).
  std::string ToString() const;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_READ_SCHEDULE_H_
