// The calling rank's schedule for a call.

#ifndef BRIGADE_PATTERNS_PLAN_CALL_SCHEDULE_H_
#define BRIGADE_PATTERNS_PLAN_CALL_SCHEDULE_H_

#include <functional>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

// Returns the host of a rank of the group: a number, equal on all ranks.
using HostOfRank = std::function<int(int rank)>;

// `call`: in normal form, and checked. `scope`: of its channel.
Schedule CompileSchedule(const CatalogueEntry& entry, const PatternCall& call, const Scope& scope,
                         const HostOfRank& host_of);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_CALL_SCHEDULE_H_
