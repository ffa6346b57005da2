// BroadcastLines: a short broadcast of a few ranks in one round of lines, where the root tells all
// others itself.

#ifndef BRIGADE_PATTERNS_DIRECT_BROADCAST_LINES_H_
#define BRIGADE_PATTERNS_DIRECT_BROADCAST_LINES_H_

#include "patterns/direct/line_round.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/schedule/topology.h"

namespace brigade {

// Whether the root of a broadcast sends to all others itself, and nobody relays.
bool RootTellsAll(const Topology& topology, int ranks);

// Runs a call as RunExchangeLines does.
LineRound RunBroadcastLines(Engine* engine, GroupState* group, const PatternCall& call,
                            OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_BROADCAST_LINES_H_
