// Normal form: a call without what its pattern ignores. Calls that mean the same have the same
// normal form, so they share one schedule, and ranks that make them agree.

#ifndef BRIGADE_PATTERNS_GROUP_NORMAL_FORM_H_
#define BRIGADE_PATTERNS_GROUP_NORMAL_FORM_H_

#include <optional>

#include "patterns/engine/pattern_call.h"

namespace brigade {

// The normal form of `call`: itself, if it is normal, or else *copy, which may hold `call`. A free
// topology stays, unless the pattern has no topologies.
const PatternCall& NormalForm(const PatternCall& call, std::optional<PatternCall>* copy);

// Whether the topology is one that cuts matrices, and this one is too short to be cut.
bool IsTooShortToCut(const PatternCall& call);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_NORMAL_FORM_H_
