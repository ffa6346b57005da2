// Group machine: what the edges of a group cost: known by rank 0, or else measured by all.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_MACHINE_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_MACHINE_H_

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "transport/bootstrap.h"

namespace brigade {

// Sets group->host_of and group->machine, as the engine's options say; collective over the members
// of `bootstrap`, who are the group's, and the first thing that they do with it.
Status FindMachine(Engine* engine, GroupState* group, Bootstrap* bootstrap);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_MACHINE_H_
