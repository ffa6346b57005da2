// Rules of windows/: its thresholds that were set by measurement, or chosen if no measurement
// applied: one-sided communication. If a value is wrong for a machine, change it here, run the
// command of its section, and record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables.

#ifndef BRIGADE_WINDOWS_RULES_H_
#define BRIGADE_WINDOWS_RULES_H_

#include <cstddef>
#include <cstdint>

namespace brigade::rules {

// --- What is fast on a transport ---
// Shown by: brigade_bench pingpong, over each transport

// Operations on memory of another process that are delegated to that process: at least this many
// blocks, each at most this long. The kernel takes half a millisecond for the least; fewer blocks
// complete before a progress thread polls again. Longer blocks would be copied twice for little
// gain.
inline constexpr int64_t kLeastDelegatedBlocks = 1024;
inline constexpr int64_t kMostDelegatedBlockBytes = 1024;

// --- Fences and short puts ---
// Shown by: superstep_table exchange; ./bench/run.sh --study as

// Most ranks of a window that enter a fence by a message from each to each: on more ranks an
// all-reduce takes less time; fewer would take two rounds instead of one.
inline constexpr int kMaxFenceMessagePeers = 8;
// Most ranks of a fence in which each writes a word to the memory of all others: on more ranks a
// tree takes fewer cache misses in a row.
inline constexpr int kMaxFenceFlagPeers = 16;
// The mailboxes of a window, for short puts into private memory of the same host: the memory of
// each member, once there are any. Less is soon full, and the kernel's copy takes longer.
inline constexpr size_t kMailboxBytesOfWindow = size_t{384} << 10;
// The longest segment of a put that waits for the frame that follows it: a longer one is on its way
// while others are packed.
inline constexpr int64_t kMostHeldBytes = 16384;

// The largest share of a mailbox that one put may take, as a divisor: a smaller divisor leaves less
// room to others.
inline constexpr size_t kMailboxShare = 4;

// --- Copies and combines ---
// Shown by: brigade_bench one-sided

// Runs of at most this length are gathered into a block before they are combined: longer ones are
// combined where they lie. The block stays in the first-level cache.
inline constexpr int64_t kLongestGatheredRunBytes = 128;
inline constexpr int64_t kGatheredBlockBytes = 4096;
// The block of an accumulate into memory of another process: a larger one leaves the near cache, a
// smaller one takes more system calls if the kernel copies.
inline constexpr int64_t kAccumulateBlockBytes = 16384;
// The most that is combined before others have their turn. More old values would leave the near
// cache before they are copied out.
inline constexpr int64_t kMostCombinedBytes = 16384;

// --- Requests under way ---
// Shown by: brigade_bench one-sided, over tcp

// Requests of a rank to one target that are under way: one more waits. More take more memory of the
// origin; fewer wait for a target that is busy for a moment.
inline constexpr size_t kMostPending = 256;
// Requests behind which one more waits until the target has carried them out. More take more memory
// of a transport that keeps copies; fewer wait more often.
inline constexpr size_t kMostUnflushed = 8192;
// Short requests to one target, at most, that wait for more to go with: more share a frame, and the
// first of them comes later.
inline constexpr size_t kMostHeldRequests = 16;

// --- Products ---
// Shown by: ./bench/run.sh --study srumma

// The most rows and columns of an area of C that the diagonal crosses, where a triangle is
// wanted. Smaller areas have less computed in vain, and the BLAS is slower on them.
inline constexpr int64_t kMostCrossed = 64;
// The size of a tile of C, in buffers: a larger one has less of A and B fetched more than once, and
// takes more memory for sums.
inline constexpr int64_t kTileBuffers = 4;

}  // namespace brigade::rules

#endif  // BRIGADE_WINDOWS_RULES_H_
