#include "patterns/short_path/group_edges.h"

#include "patterns/trace/trace.h"

namespace brigade {

const Slot* PollLonger(Engine* engine, InEdge* edge, int peer) {
  const TraceSpan span(TraceKind::kWait, 0, peer);
  const Engine::Wait wait(engine);
  const uint64_t polls = engine->endpoint()->PollsAwake();
  for (uint64_t i = 0; i < polls; ++i) {
    if (const Slot* slot = edge->Peek()) return slot;
    engine->endpoint()->Pause(i);
  }
  return nullptr;
}

}  // namespace brigade
