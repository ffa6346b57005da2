// The protocols, in the order in which plans list them. docs/design/protocols.md compares them.

#ifndef BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_
#define BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_

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
// Messages in one segment or a few, which the sender copies to staging memory ahead of the
// receiver.
extern const Protocol kEagerShared;  // over shared memory
extern const Protocol kEager;        // over any transport
// The schedule in the engine. Runs every call.
extern const Protocol kPipelined;

// Lists the protocols of a plan that is complete otherwise. `has_edges`: whether the endpoint has
// any.
void ListProtocols(bool has_edges, Plan* plan);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_PROTOCOLS_H_
