// ExchangeLines: a short combine, or a barrier, of a few ranks in one round of lines. Who is to
// have the result gets all contributions, and combines them in the order of the schedule that this
// stands for.

#ifndef BRIGADE_PATTERNS_DIRECT_EXCHANGE_LINES_H_
#define BRIGADE_PATTERNS_DIRECT_EXCHANGE_LINES_H_

#include "patterns/direct/line_round.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// Runs a call in its normal form that nobody has checked yet, in a turn of the engine's. The number
// of the call on its channel is left for the caller to count. Where it is done, `*did`, if given,
// is what the short path would have counted.
LineRound RunExchangeLines(Engine* engine, GroupState* group, const PatternCall& call,
                           OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_EXCHANGE_LINES_H_
