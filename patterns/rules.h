// Rules of patterns/: its thresholds that were set by measurement, or chosen if no measurement
// applied: topologies, the cost model, protocols, and progress. If a value is wrong for a machine,
// change it here, run the command of its section, and record the result in
// docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables. Another value of a rule marked "order" changes the
// order in which a sum is combined, and so its last bits.

#ifndef BRIGADE_PATTERNS_RULES_H_
#define BRIGADE_PATTERNS_RULES_H_

#include <cstddef>
#include <cstdint>

#include "transport/rules.h"

namespace brigade::rules {

// --- The topology of a call that names none ---
// Shown by: brigade_bench spread --cases broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,
// gather,scatter,scan

// Order. Sums up to here: a wide tree, whose few relays wait less; longer ones: a binomial tree,
// which spreads the work.
inline constexpr size_t kShortSumBytes = size_t{2} << 10;
// Order. Sums beyond both: a ring, or reduce-scatter + allgather, which loads all links; below: a
// tree, with fewer messages in a row.
inline constexpr size_t kLongSumBytes = size_t{8} << 10;
inline constexpr size_t kLongSumBytesPerRank = size_t{1} << 10;
// Order. All-reduces on a power of two of ranks: a hypercube, with fewer messages than
// reduce-scatter + allgather; beyond: that, with fewer bytes.
inline constexpr size_t kHypercubeBytes = size_t{24} << 10;
// Sums of any order in shared memory: one rank reads all others, with the fewest copies; beyond,
// the work of that rank takes longest.
inline constexpr size_t kWideSumBytes = size_t{128} << 10;
// Broadcasts and blocks on slow links: a ring, once there is enough to fill it; below: a tree or
// a circulant graph.
inline constexpr size_t kRingBytes = size_t{16} << 10;
// Scans: up to here or kLongSumBytesPerRank, recursive doubling, with fewer messages in a row;
// beyond: a chain, on which each rank sends once.
inline constexpr size_t kLongScanBytes = size_t{8} << 10;  // Order.
// Gathers and scatters, all blocks together: up to here a binomial tree, beyond a flat one.
inline constexpr size_t kLongBlocksBytes = size_t{16} << 10;
// Order. Most ranks of a circulant graph or a binomial tree of blocks: half of all blocks must fit
// into the smallest possible chunk.
inline constexpr int kMostRanksOnCirculant = 120;
// Order. A matrix up to here is not cut into blocks or for two trees: the additional messages in a
// row cost more than the cut saves.
inline constexpr size_t kUncutBytes = size_t{8} << 10;
// Shared memory. Short all-reduces, and barriers, on up to this many ranks take one round in which
// each rank sends to all, instead of two rounds along a tree: fewer waits, more messages.
inline constexpr size_t kExchangeBytes = size_t{2} << 10;
inline constexpr int kMostRanksOnExchange = 4;
// All-reduces of two ranks: each rank combines the whole message, as long as it fits beside its
// flag. Longer messages take reduce-scatter + allgather: two rounds, fewer copies.
inline constexpr size_t kPairSumBytes = size_t{8} << 20;
// Short reduces whose root alone combines: fewer ranks wait, and the root does all the work.
inline constexpr int kMostRanksGathered = 16;
// Short multi-reduces on up to this many ranks: each rank sends its contribution directly to the
// owner of a block. One round instead of a logarithm of them, and more messages.
inline constexpr int kMostRanksOfBlocks = 8;
// Branches of a wide tree, and of the tree within a host: more of them, fewer relays, and more work
// for the root.
inline constexpr int kWideBranches = 8;

// --- The choice among candidates by the cost model ---
// Shown by: ./bench/run.sh --model

// Among candidates within this factor of the fastest, the one in the fewest segments is taken: it
// has the fewest chances of a late rank.
inline constexpr double kAboutAsFast = 1.05;
// Among candidates in one segment within this factor, the one with the fewest messages in a row is
// taken: a rank has to wake for each message.
inline constexpr double kAboutAsFastToGather = 1.2;
// Candidates within this factor count as equally fast.
inline constexpr double kAsFast = 1.005;
// A topology that the call names is replaced by one that is faster by this factor. Below 2, the
// limit of a split ring.
inline constexpr double kTooSlow = 1.75;
// The shortest segment of a candidate: the costs per segment dominate in shorter ones.
inline constexpr size_t kLeastSegmentBytes = size_t{4} << 10;

// --- What calibration believes ---
// Shown by: brigade_bench calibrate

// Long messages are taken to wait for links, unless processors are busy for this part of the time.
inline constexpr double kBusyShare = 0.75;
// How much faster links are taken to be than busy processors: it cannot be measured then.
inline constexpr double kFasterThanProcessors = 4;
// Limit of the work of a transport per byte, in copies within the cache: a polling rank counts as
// busy, too.
inline constexpr double kMostCopiesPerByte = 64;

// --- How a message is cut ---
// Shown by: brigade_bench pingpong; ./bench/run.sh --cluster 8

// Fewest segments of a relayed message: a relay then sends while it receives. More overlap better
// and cost more messages.
inline constexpr size_t kLeastSegments = 2;
// Segments where both sides copy at once: more of them overlap better and cost more messages.
inline constexpr size_t kOverlappingSegments = 8;
// The shortest segment on slow links, in costs of a segment: links pass a few packets at once, so a
// relay costs less than a segment.
inline constexpr double kLeastSegmentInCosts = 14;
// Slots of a stream where memory allows: more keep a link full while a rank is late, and hold more
// staging memory.
inline constexpr int kWindowSlots = 4;
// Receives that eager segments post at once: the next message arrives while this one is used. More
// need more receive buffers.
inline constexpr size_t kReceivesAhead = 2;
// Receives posted at once if messages wait for their receives: more children can send at once.
inline constexpr size_t kMostReceivesAhead = 8;

// --- When a call checks, and the progress thread ---
// Shown by: brigade_bench pingpong; ./bench/run.sh; doorbell_table

// Calls on one channel whose messages are there already, until one moves everything else, too: more
// calls save polls, and other ranks wait longer for what this rank relays.
inline constexpr uint64_t kCallsPerLook = 128;
// Idle polls, about a microsecond, until a wait looks at the clock for the report of long waits:
// fewer add a look to short waits.
inline constexpr uint64_t kPollsBeforeClock = 8;
// Polls per further look. A rank that sleeps between polls looks at each one.
inline constexpr uint64_t kPollsPerClock = 16;
// How long a call waits for another rank until it checks by a control message whether both made
// matching calls. Less sends more messages while ranks are merely late; more detects mismatches
// later. The interval between two checks doubles, up to the second value.
inline constexpr double kMatchCheckSeconds = 1;
inline constexpr double kMostMatchCheckSeconds = 32;
// How often a returned send polls for staging memory before it takes overflow memory: chunks are in
// the cache, and waiting for a receiver that does not come costs as much. The limit in time is
// twice kPlaceUs.
inline constexpr uint64_t kLooksBeforeOverflow = 4000;
// How long a send from user memory retries until there is room for it, a grant of its receiver
// (Endpoint::SendNow), or a posted buffer for the only block of this rank: a few times the answer
// of a waiting receiver on one host, and the time to copy half a megabyte.
inline constexpr int kPlaceUs = 80;
// How long the program must stay out of the library until the progress thread takes over: more
// spares frequent callers a wake-up, and delays messages that arrive meanwhile.
inline constexpr int kProgressThreadGraceUs = 200;
// The time to which this doubles while the program always comes back.
inline constexpr int kProgressThreadLongestGraceUs = 6400;
// Polls of the progress thread before it sleeps.
inline constexpr int kProgressThreadPolls = 20;
// Sleep of the progress thread on an endpoint that cannot wake it: it doubles while no message
// moves.
inline constexpr int kProgressThreadShortestRestUs = 1000;
inline constexpr int kProgressThreadLongestRestUs = 8000;

// --- Protocols ---
// More of them: transport/rules.h, "What is fast on a transport"
// Shown by: brigade_bench pingpong, over each transport

// The longest inline message of a collective call, summed over its receivers: beyond, one copy in
// staging memory for all receivers is cheaper.
inline constexpr size_t kMostInlineCollectiveBytes = size_t{4} << 10;
// The same for schedules that move blocks, each from user memory to one receiver: a rank sends all
// its blocks before it waits, which saves ranks that share processors many waits. Longer blocks are
// not one segment.
inline constexpr size_t kMostInlineBlockBytes = size_t{16} << 10;

// Segments of a message that eager segments move one by one if other ranks wait for them: more save
// the bookkeeping of windows for more messages, and copy less while the receiver is late.
inline constexpr int64_t kMostEagerSegments = 8;
// Segments if no rank forwards them: they are inline messages, without bookkeeping.
inline constexpr int64_t kMostInlineSegments = 512;
static_assert(kPairSumBytes <= kMostInlineSegments * kShmOverlapBytes, "they go inline");

// Zero-copy reads. Most ranks: on more, each waits for more others.
inline constexpr int kMostRanksOfZeroCopy = 8;
// The fewest bytes that a rank exposes on average: shorter messages are staged before all ranks
// have agreed.
inline constexpr size_t kLeastExposedBytes = size_t{32} << 10;
// A block of a partial sum of exposed matrices: it stays in the second-level cache beside the block
// that is added to it. Longer blocks leave the cache, shorter ones are more steps.
inline constexpr size_t kPartialSumBytes = size_t{32} << 10;

}  // namespace brigade::rules

#endif  // BRIGADE_PATTERNS_RULES_H_
