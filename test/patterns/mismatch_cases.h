// Pairs of calls that do not match: the call of one rank of a 2 x 2 grid, and the call of the
// others.

#ifndef BRIGADE_TEST_PATTERNS_MISMATCH_CASES_H_
#define BRIGADE_TEST_PATTERNS_MISMATCH_CASES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/combine.h"
#include "membuf/status.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"

namespace brigade {

// One rank's call; without a matrix yet.
struct TestCall {
  Pattern pattern = Pattern::kBarrier;
  int root = 0;  // of pairs: the peer
  size_t elems = 10;
  size_t last_elems = 0;  // of the last block; 0: as many as of the others
  ChannelKind scope = ChannelKind::kAll;
  Topology topology{Shape::kTree, 2};
  Element type = Element::kDouble;
  CombineOp op = CombineOp::kSum;
  const UserOp* user_op = nullptr;
  bool equal_blocks = false;
};

struct MismatchCase {
  std::string name;
  int odd_rank = 3;
  std::vector<TestCall> odd;     // the calls of that rank, in order
  std::vector<TestCall> others;  // those of all others
  // The mismatch is in the error of every rank: one of these texts.
  std::vector<std::string> texts;
};

const std::vector<MismatchCase>& MismatchCases();
// A broadcast whose root sends to all others, one of which waits for another root.
MismatchCase MismatchOfRoots(size_t elems);

// Makes the calls of a case.
Status RunCalls(Group* group, const MismatchCase& tested);
// Starts a call, and tests it until it is over.
Status StartAndTest(Group* group, const TestCall& tested);
// Makes the calls of a case, then barriers, and waits for the group to break. Returns what broke
// it; OK if nothing has for a long time.
Status RunCase(Group* group, const MismatchCase& tested);

// Returns options of an engine that detects mismatches soon.
EngineOptions MismatchOptions();

// Returns why a status is not the mismatch of a case; empty if it is. `goes_on`: other calls
// follow, whose numbers a rank may see first.
std::string WrongOutcome(const MismatchCase& tested, const Status& status, bool goes_on);

}  // namespace brigade

#endif  // BRIGADE_TEST_PATTERNS_MISMATCH_CASES_H_
