// PairLine: a message from point to point that lies beside its flag in memory that both ranks
// share, or is copied to where its receiver waits for it. One copy and one store are all it takes,
// so nothing is compiled, looked up or validated for it that one look does not show to be as usual.
//
// What is not as usual, failures among it, is left to ShortPath and the executor, to which a
// message that was sent or taken here is one of theirs.

#ifndef BRIGADE_PATTERNS_DIRECT_PAIR_LINE_H_
#define BRIGADE_PATTERNS_DIRECT_PAIR_LINE_H_

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

enum class PairLine {
  kDone,
  kUnusual,      // nothing happened
  kNothingCame,  // likewise, and the edge was polled for as long as the transport stays awake
};

// Runs a call that nobody has checked yet, in a turn of the engine's. Where it is done, `*did`, if
// given, is what the others would have counted.
PairLine RunPairLine(Engine* engine, GroupState* group, const PatternCall& call,
                     OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_PAIR_LINE_H_
