// MutualReads: long multi-broadcasts and combines of a few ranks, each of which reads the others'
// messages where they have them (mutual_offers.h).

#ifndef BRIGADE_PATTERNS_DIRECT_MUTUAL_READS_H_
#define BRIGADE_PATTERNS_DIRECT_MUTUAL_READS_H_

#include <cstdint>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// Runs a valid call that is number `sequence` of its channel, in a turn of the engine's. True: that
// is over, as `*status` says, and `*did`, if given, is what it did. False: nothing happened, on no
// rank.
bool RunMutualReads(Engine* engine, GroupState* group, const CatalogueEntry& entry,
                    const PatternCall& call, uint64_t sequence, Status* status,
                    OperationStatistics* did);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_MUTUAL_READS_H_
