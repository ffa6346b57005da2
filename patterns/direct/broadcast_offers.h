// BroadcastOffers: a long broadcast of a few ranks, which all others read where the root has it
// (offers.h).
//
// Who has read it passes nothing on. So where the topology has some ranks relay, the root offers it
// only if it can hold all others, who each go another way otherwise. From then on the topology is
// no more: the root sends itself to those who have not read.

#ifndef BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_
#define BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_

#include <cstdint>

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// What is left of a call that is not done.
struct AfterOffers {
  uint64_t served = 0;          // at the root: the ranks of the scope that have it, a bit for each
  bool root_tells_all = false;  // whatever the topology says
};

// Runs a normal call as far as that goes. True: it is done, but for its number on the channel.
bool RunBroadcastOffers(Engine* engine, GroupState* group, const PatternCall& call,
                        OperationStatistics* did, AfterOffers* after);

// Of a root that has served so many ranks, and copied nothing for that.
void CountServed(const PatternCall& call, uint64_t served, OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_BROADCAST_OFFERS_H_
