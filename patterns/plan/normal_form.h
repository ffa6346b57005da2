// Normal form: a call without the fields that its pattern ignores. Calls that mean the same have
// the same normal form, so they share one schedule, and ranks that make them agree.

#ifndef BRIGADE_PATTERNS_PLAN_NORMAL_FORM_H_
#define BRIGADE_PATTERNS_PLAN_NORMAL_FORM_H_

#include <cstddef>
#include <optional>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// Returns the topology of the normal form of `call`, of up to `bytes`; a free one stays, unless the
// pattern has none.
Topology NormalTopology(const CatalogueEntry& entry, const PatternCall& call, size_t bytes);

// Returns the normal form of `call`: the call itself, or *copy, which may hold `call`. `topology`:
// that of the normal form.
const PatternCall& NormalForm(const CatalogueEntry& entry, const PatternCall& call,
                              const Topology& topology, std::optional<PatternCall>* copy);

// Returns whether the topology is one that cuts matrices, and one of `bytes` is too short to be
// cut.
bool IsTooShortToCut(Pattern pattern, const Topology& topology, size_t bytes);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_NORMAL_FORM_H_
