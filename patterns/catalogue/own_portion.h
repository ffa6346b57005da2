// OwnPortion: how a rank sends a portion of its own in multi forms.

#ifndef BRIGADE_PATTERNS_CATALOGUE_OWN_PORTION_H_
#define BRIGADE_PATTERNS_CATALOGUE_OWN_PORTION_H_

#include <vector>

#include "patterns/schedule/schedule.h"

namespace brigade {

// Own pieces go out one ahead: the next one is copied in while this one flies. `at_once`: nothing
// flies, so each goes when it is copied, which may be straight to a line.
void SendOwnPortion(ScheduleBuilder* builder, int portion, const std::vector<int>& peers,
                    bool at_once);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_OWN_PORTION_H_
