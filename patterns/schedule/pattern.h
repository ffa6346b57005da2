// Pattern: what a group can do together.

#ifndef BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_
#define BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_

#include <cstdint>

namespace brigade {

enum class Pattern : uint8_t {
  kSend,            // locally blocking, buffered, strided (systems.md 6)
  kReceive,         // its other half
  kBroadcast,       // tree, rings, split ring (systems.md 1 and 5)
  kReduce,          // result at the root only (systems.md 2)
  kAllReduce,       // result at every rank
  kMultiBroadcast,  // every rank's portion to all (systems.md 3)
  kMultiReduce,     // portion q summed at rank q (systems.md 4)
  kBarrier,
};
inline constexpr int kPatterns = 8;
// One half of a message from point to point.
inline bool IsPair(Pattern pattern) {
  return pattern == Pattern::kSend || pattern == Pattern::kReceive;
}
// As the catalogue calls it.
const char* PatternName(Pattern pattern);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_
