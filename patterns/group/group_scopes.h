// Group scopes: who is in which scope of a group, and what the transport can do between whom.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_

#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "transport/endpoint.h"

namespace brigade {

// Lays out the scopes of a group of rows x cols ranks, of which this is rank `rank`.
void SetScopes(int rows, int cols, int rank, GroupState* group);

// Finds out where the members of the group, just opened, are, and what the transport can do between
// them.
void SetEdgeConfigs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group);

// What messages from point to point need, once there are any: it grows with the group.
void PrepareForPairs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_
