// PortionLines: a short multi-broadcast or multi-reduce of a few ranks in one round of lines. Each
// sends every other its own portion, or its contribution to that one's portion, which then combines
// all contributions in the order of the schedule that this stands for.

#ifndef BRIGADE_PATTERNS_DIRECT_PORTION_LINES_H_
#define BRIGADE_PATTERNS_DIRECT_PORTION_LINES_H_

#include "patterns/direct/line_round.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// Runs a call as RunExchangeLines does.
LineRound RunPortionLines(Engine* engine, GroupState* group, const PatternCall& call,
                          OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_PORTION_LINES_H_
