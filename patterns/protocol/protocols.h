// The protocols, in the order in which plans list them. docs/design/protocols.md compares them.

#ifndef BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_
#define BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_

#include <vector>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/group_state.h"
#include "patterns/plan/plan.h"
#include "patterns/protocol/protocol.h"

namespace brigade {

// Over shared memory: the payload lies beside its flag.
extern const Protocol kInlineMessage;     // point to point
extern const Protocol kInlineCollective;  // all other patterns
// Over shared memory, point to point: the sender copies into the receiver's posted buffer.
extern const Protocol kPostedBuffer;
// Over shared memory: each rank reads the others' matrices where they lie.
extern const Protocol kZeroCopyRead;
// Messages in one piece or a few, which the sender copies to staging memory ahead of the receiver.
extern const Protocol kEagerShared;  // over shared memory
extern const Protocol kEager;        // over any transport
// The schedule in the engine. Runs every call.
extern const Protocol kPipelined;

// Lists the protocols of a plan that is complete otherwise.
void ListProtocols(const GroupState& group, Plan* plan);

// Returns the protocols that may serve a pattern, in order. `edges`: ranks share memory.
std::vector<const Protocol*> ProtocolsFor(const CatalogueEntry& entry, bool edges);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_
