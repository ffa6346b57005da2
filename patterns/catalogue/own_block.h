// OwnBlock: how a rank sends a block of its own in multi forms.

#ifndef BRIGADE_PATTERNS_CATALOGUE_OWN_BLOCK_H_
#define BRIGADE_PATTERNS_CATALOGUE_OWN_BLOCK_H_

#include <vector>

#include "patterns/schedule/schedule.h"

namespace brigade {

// Own segments go out one ahead: the next one is copied in while this one flies. `at_once`: nothing
// flies, so each goes when it is copied, which may be straight to a line.
void SendOwnBlock(ScheduleBuilder* builder, int block, const std::vector<int>& peers, bool at_once);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_OWN_BLOCK_H_
