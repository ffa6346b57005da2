// Pattern: what a group can do together.

#ifndef BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_
#define BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_

#include <cstdint>

namespace brigade {

enum class Pattern : uint8_t {
  kSend,            // locally blocking, buffered, strided
  kReceive,         // its other half
  kBroadcast,       // tree, rings, split ring
  kReduce,          // result at the root only
  kAllReduce,       // result at every rank
  kMultiBroadcast,  // every rank's portion to all
  kMultiReduce,     // portion q summed at rank q
  kBarrier,
};
inline constexpr int kPatterns = 8;
// One half of a message from point to point.
inline bool IsPair(Pattern pattern) {
  return pattern == Pattern::kSend || pattern == Pattern::kReceive;
}
// Whether its calls have a matrix: the others move portions, or nothing.
inline bool HasMatrix(Pattern pattern) {
  return pattern != Pattern::kMultiBroadcast && pattern != Pattern::kBarrier;
}
// As the catalogue calls it.
const char* PatternName(Pattern pattern);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_
