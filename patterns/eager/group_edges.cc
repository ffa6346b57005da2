#include "patterns/eager/group_edges.h"

namespace brigade {

const Slot* PollLonger(Engine* engine, InEdge* edge, int peer) {
  const Slot* slot = nullptr;
  PollUntil(engine, peer, [&] { return (slot = edge->Peek()) != nullptr; });
  return slot;
}

}  // namespace brigade
