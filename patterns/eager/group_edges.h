// The edges of a group, for the rooms that run calls over them.

#ifndef BRIGADE_PATTERNS_EAGER_GROUP_EDGES_H_
#define BRIGADE_PATTERNS_EAGER_GROUP_EDGES_H_

#include <cstdint>

#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/rules.h"
#include "patterns/trace/trace.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/polling.h"

namespace brigade {

// A call whose messages have come makes no progress on other channels. Returns whether this call
// does so first: one of kCallsPerLook.
inline bool IsProgressDue(uint64_t sequence) {
  return sequence % rules::kCallsPerLook == rules::kCallsPerLook - 1;
}

// Null: there is no edge to `peer`, or the engine has deferred sends, which must go first.
inline OutEdge* EdgeTo(Engine* engine, GroupState* group, ChannelKind kind, int peer) {
  OutEdge*& edge = group->OutEdgeTo(kind, peer);
  if (edge == nullptr && group->edges != nullptr) {
    edge = group->edges->EdgeTo({group->id, kind}, peer);
  }
  return engine->sends()->has_deferred() ? nullptr : edge;
}

// Null: there is none.
inline InEdge* EdgeFrom(GroupState* group, ChannelKind kind, int peer) {
  InEdge*& edge = group->InEdgeFrom(kind, peer);
  if (edge == nullptr && group->edges != nullptr) {
    edge = group->edges->EdgeFrom({group->id, kind}, peer);
  }
  return edge;
}

// Polls until `over()`, as long as the transport stays awake; false if it is not over then.
template <typename Over>
bool PollUntil(Engine* engine, int peer, const Over& over) {
  const TraceSpan span(TraceKind::kWait, 0, peer);
  const Engine::Wait wait(engine);
  Polling* const polling = engine->endpoint()->polling();
  for (uint64_t i = 0; i < polling->PollsAwake(); ++i) {  // it may become fewer
    if (over()) return true;
    polling->Pause(i);
  }
  return false;
}

// Out of line: calls whose messages are there already do not need it.
[[gnu::noinline]] inline const Slot* PollLonger(Engine* engine, InEdge* edge, int peer) {
  const Slot* slot = nullptr;
  PollUntil(engine, peer, [&] { return (slot = edge->Peek()) != nullptr; });
  return slot;
}
// The next message of an edge, which is paused for as the transport likes; null if it does not
// come. Then it is to be waited for with a posted receive, which fails if the peer is lost.
// Not so many polls that the transport puts the rank to sleep: what others wait for moves only
// where everything is polled.
inline const Slot* Poll(Engine* engine, InEdge* edge, int peer) {
  const Slot* const slot = edge->Peek();
  return slot != nullptr ? slot : PollLonger(engine, edge, peer);
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_GROUP_EDGES_H_
