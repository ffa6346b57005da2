// Call check: what one rank can see of a wrong call. What ranks disagree about shows in the headers
// of their messages (wire_header.h).

#ifndef BRIGADE_PATTERNS_GROUP_CALL_CHECK_H_
#define BRIGADE_PATTERNS_GROUP_CALL_CHECK_H_

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// kInvalidArgument, naming the pattern and what is wrong, if rank `rank` of a scope of `size` ranks
// cannot make `call`. `entry` is its pattern's, the scope of a point-to-point call the whole group.
Status CheckCall(const CatalogueEntry& entry, const PatternCall& call, int size, int rank);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_CALL_CHECK_H_
