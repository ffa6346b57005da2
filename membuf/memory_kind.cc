#include "membuf/memory_kind.h"

#include "membuf/rules.h"

namespace brigade {
namespace {

enum class When : uint8_t {
  kAlways,
  kContiguousBelowChunk,  // the message is one run and fits a chunk with room to spare
  kShortRuns,             // below rules::kControllerRunBytes
};

struct Rule {
  ChunkRole role;
  When when;
  MemoryKind kind;
};

// The first rule that applies decides; the last rule of every role always applies. An add runs at
// half speed into controller memory, so its destination is host memory whatever happens to it next.
constexpr Rule kRules[] = {
    {ChunkRole::kCombineTarget, When::kAlways, MemoryKind::kHost},
    {ChunkRole::kBroadcastSource, When::kAlways, MemoryKind::kController},
    {ChunkRole::kForward, When::kAlways, MemoryKind::kHost},
    {ChunkRole::kPipelinedForward, When::kAlways, MemoryKind::kController},
    {ChunkRole::kReceive, When::kAlways, MemoryKind::kHost},
    {ChunkRole::kBufferedSend, When::kContiguousBelowChunk, MemoryKind::kHost},
    {ChunkRole::kBufferedSend, When::kShortRuns, MemoryKind::kHost},
    {ChunkRole::kBufferedSend, When::kAlways, MemoryKind::kController},
};

}  // namespace

MemoryKind KindFor(ChunkRole role, size_t run_bytes, size_t message_bytes, size_t chunk_bytes) {
  const auto applies = [&](When when) {
    switch (when) {
      case When::kAlways:
        return true;
      case When::kContiguousBelowChunk:
        return run_bytes == message_bytes && message_bytes < chunk_bytes;
      case When::kShortRuns:
        return run_bytes < rules::kControllerRunBytes;
    }
    return false;
  };
  const Rule* rule = kRules;
  while (rule->role != role || !applies(rule->when)) ++rule;
  return rule->kind;
}

}  // namespace brigade
