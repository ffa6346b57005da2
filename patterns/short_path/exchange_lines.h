// ExchangeLines: a short combine, or a barrier, of a few ranks in one round, as messages that lie
// beside their flags in memory that all ranks share. Who is to have the result gets all
// contributions as lines, and combines them in the order of the schedule that this stands for.
// Nothing is compiled, looked up or validated for it that one look does not show to be as usual.
//
// The messages are those of the schedule, so that some ranks may go this way and others another.

#ifndef BRIGADE_PATTERNS_SHORT_PATH_EXCHANGE_LINES_H_
#define BRIGADE_PATTERNS_SHORT_PATH_EXCHANGE_LINES_H_

#include <cstdint>

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

enum class ExchangeLines {
  kDone,
  kUnusual,  // nothing happened
  // This rank's messages are sent, and what it receives is left where it is, for
  // ShortPath::RunAfterSends.
  kSent,
};

// Runs a call in its normal form that nobody has checked yet, in a turn of the engine's. The number
// of the call on its channel is left for the caller to count. Where it is done, `*did`, if given,
// is what the short path would have counted.
ExchangeLines RunExchangeLines(Engine* engine, GroupState* group, const PatternCall& call,
                               OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SHORT_PATH_EXCHANGE_LINES_H_
