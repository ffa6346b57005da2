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
  kMultiBroadcast,  // every rank's block to all
  kMultiReduce,     // block q summed at rank q
  kBarrier,
  kGather,    // every rank's block to the root
  kScatter,   // a block of the root's to every rank
  kAllToAll,  // a block from every rank to every rank
  kScan,      // result at rank r: combined from ranks 0 to r
  kExscan,    // the same, without rank r
};
inline constexpr int kPatterns = 13;
// One half of a message from point to point.
inline bool IsPair(Pattern pattern) {
  return pattern == Pattern::kSend || pattern == Pattern::kReceive;
}
// Whether its calls have a matrix: the others move blocks, or nothing.
inline bool HasMatrix(Pattern pattern) {
  return pattern != Pattern::kMultiBroadcast && pattern != Pattern::kBarrier &&
         pattern != Pattern::kGather && pattern != Pattern::kScatter &&
         pattern != Pattern::kAllToAll;
}
// Whether its messages may go around rings of all ranks, in either direction.
inline bool HasDirection(Pattern pattern) {
  return pattern == Pattern::kMultiBroadcast || pattern == Pattern::kMultiReduce;
}
// Whether it is a prefix reduction.
inline bool IsScan(Pattern pattern) {
  return pattern == Pattern::kScan || pattern == Pattern::kExscan;
}
// Whether one rank sends or receives the blocks of all.
inline bool IsRootedBlocks(Pattern pattern) {
  return pattern == Pattern::kGather || pattern == Pattern::kScatter;
}
// Whether each rank sends or receives blocks, of which each has one sender and one receiver.
inline bool IsBlocks(Pattern pattern) {
  return IsRootedBlocks(pattern) || pattern == Pattern::kAllToAll;
}
// Whether its messages never go by host: operands are in the order of ranks, and an all-to-all
// would have more messages between hosts in a row.
inline bool KeepsToRanks(Pattern pattern) {
  return IsScan(pattern) || pattern == Pattern::kAllToAll;
}
// As the catalogue calls it.
const char* PatternName(Pattern pattern);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_PATTERN_H_
