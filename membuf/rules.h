// Rules of membuf/: its thresholds that were set by measurement, or chosen if no measurement
// applied: copies and combines. If a value is wrong for a machine, change it here, run the command
// of its section, and record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables.

#ifndef BRIGADE_MEMBUF_RULES_H_
#define BRIGADE_MEMBUF_RULES_H_

#include <cstddef>

namespace brigade::rules {

// --- Copies and combines ---
// Shown by: copy_table; brigade_bench spread --cases reduce

// Runs of at least this length are combined in place; shorter ones are gathered into a block first.
inline constexpr size_t kCombinedInPlaceBytes = 256;
// The block for gathered runs: two blocks stay in the first-level cache.
inline constexpr size_t kCombineBlockBytes = 4096;
// The longest run that is copied by inline moves. For longer runs inline moves are faster within
// the cache, and slower than memcpy from memory.
inline constexpr size_t kInlineCopyBytes = 512;
// The longest run for which memcpy never uses `rep movsb`, which takes 20 times as long for some
// alignments of source and destination.
inline constexpr size_t kMostCopiedByMemcpy = 2048;
// The shortest of the longer runs for which memcpy does not use `rep movsb`: most do not fit into a
// cache.
inline constexpr size_t kLeastStreamedByMemcpy = size_t{1} << 20;
// The shortest copy for which memcpy uses `rep movsb`, which does not fetch the overwritten lines
// from the processor that read them last. Shorter runs are gathered into a block that stays in the
// first-level cache beside them, and copied by one such copy.
inline constexpr size_t kLeastPushedBytes = size_t{4} << 10;
inline constexpr size_t kPushedBlockBytes = size_t{8} << 10;
// The shortest run that is gathered into controller memory, on machines with that memory: below,
// the copy costs more than the faster send saves.
inline constexpr size_t kControllerRunBytes = 2400;

// The shortest accumulate whose first elements are combined by themselves, so that the rest begins
// at an aligned address: a store across two cache lines takes longer than two stores, and a second
// loop costs more than that in shorter accumulates.
inline constexpr size_t kLeastAlignedAccumulateBytes = 256;

// --- Overflow memory ---
// Shown by: brigade_bench pingpong --bytes 64M

// Freed overflow memory that is kept for reuse, at most: more saves system calls after a burst of
// long messages, and stays with the process.
inline constexpr size_t kMostKeptOverflowBytes = size_t{64} << 20;

// --- What is fast on a transport ---
// Shown by: brigade_bench pingpong, over each transport

// The shortest run of sender or receiver, if the runs of both differ: below, a step along both
// costs more than staging the bytes.
inline constexpr size_t kLeastUnequalRunBytes = 256;

}  // namespace brigade::rules

#endif  // BRIGADE_MEMBUF_RULES_H_
