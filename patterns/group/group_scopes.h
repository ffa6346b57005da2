// Group scopes: the ranks of each scope of a group, and the capabilities of the edges between them.

#ifndef BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_
#define BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_

#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "transport/endpoint.h"

namespace brigade {

// Lays out the scopes of a group of rows x cols ranks, of which this is rank `rank`.
void SetScopes(int rows, int cols, int rank, GroupState* group);

// Sets the hosts of the members of a newly opened group, and the capabilities of the edges between
// them.
void SetEdgeConfigs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group);

// Makes what point-to-point messages need, before the first of them: its size grows with the group.
void PrepareForPairs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_GROUP_SCOPES_H_
