// BroadcastOffers: a long broadcast of a few ranks, where the root tells all others itself, and
// they read it where the root has it (offers.h).

#ifndef BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_
#define BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_

#include <cstdint>

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// Runs a normal call as far as that goes. True: it is done, but for its number on the channel.
// Else, at the root, `*served` says which ranks of the scope have the message, a bit for each: to
// the others it is still to be sent.
bool RunBroadcastOffers(Engine* engine, GroupState* group, const PatternCall& call,
                        OperationStatistics* did, uint64_t* served);

// Of a root that has served so many ranks, and copied nothing for that.
void CountServed(const PatternCall& call, uint64_t served, OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_
