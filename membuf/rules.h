// Rules: thresholds that were set by measurement, in one table. Whoever has a machine on which
// one is wrong changes it here, runs the command of its section, and writes down what came of it in
// docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one.
//
// A rule marked "order" decides in which order a sum is combined. All ranks must have the same one,
// and another value gives other last bits.

#ifndef BRIGADE_MEMBUF_RULES_H_
#define BRIGADE_MEMBUF_RULES_H_

#include <cstddef>
#include <cstdint>

namespace brigade::rules {

// --- The topology of a call that names none ---
// Shown by: brigade_bench spread --cases broadcast,reduce,all-reduce

// Order. Sums up to here: a wide tree, whose few relays wait less; longer ones: a binomial tree,
// which spreads the work.
inline constexpr size_t kShortSumBytes = size_t{2} << 10;
// Order. Sums beyond both: a ring, or dealt to the ranks, which loads all links; below: a tree,
// fewer messages in a row.
inline constexpr size_t kLongSumBytes = size_t{8} << 10;
inline constexpr size_t kLongSumBytesPerRank = size_t{1} << 10;
// Order. Sums to all on a power of two of ranks: a hypercube, fewer messages than dealing; beyond:
// dealt, fewer bytes.
inline constexpr size_t kHypercubeBytes = size_t{24} << 10;
// Sums of any order in shared memory: one rank reads all others, fewest copies; beyond: its work
// takes the longest.
inline constexpr size_t kWideSumBytes = size_t{128} << 10;
// Broadcasts and portions on slow links: a ring, once there is enough to fill it; below: a tree or
// a circulant graph.
inline constexpr size_t kRingBytes = size_t{16} << 10;
// Order. Most ranks of a circulant graph: half of their portions must fit into the smallest chunk
// there may be.
inline constexpr int kMostRanksOnCirculant = 120;
// Order. A matrix up to here is not cut into blocks or for two trees: more messages in a row than
// it saves time.
inline constexpr size_t kUncutBytes = size_t{8} << 10;
// Branches of a wide tree, and of the tree within a host: more of them, fewer relays, and more work
// for the root.
inline constexpr int kWideBranches = 8;

// --- The choice among ways by the cost model ---
// Shown by: ./bench/run.sh --model

// Ways within this of the fastest are as good: the one in the fewest pieces is taken, which has the
// fewest chances to be late.
inline constexpr double kAboutAsFast = 1.05;
// The same for ways in one piece: the one with the fewest messages in a row, for each of which a
// rank has to wake.
inline constexpr double kAboutAsFastToGather = 1.2;
// Ways within this are the fastest themselves.
inline constexpr double kAsFast = 1.005;
// A topology asked for by name gives way to one so many times as fast. Below two, which a split
// ring takes in the limit.
inline constexpr double kTooSlow = 1.75;
// The shortest piece that comes into question: shorter ones are all cost and no bytes.
inline constexpr size_t kLeastPieceBytes = size_t{4} << 10;

// --- What calibration believes ---
// Shown by: brigade_bench calibrate

// Links are what long messages wait for, unless processors are busy for so much of the time.
inline constexpr double kBusyShare = 0.75;
// How much faster links then are, which cannot be seen.
inline constexpr double kFasterThanProcessors = 4;
// Work of a transport on a byte, in copies within the cache: a rank that only looks for messages is
// busy, too.
inline constexpr double kMostCopiesPerByte = 64;

// --- How a message is cut ---
// Shown by: brigade_bench pingpong; ./bench/run.sh --cluster 8

// Pieces where both sides copy at once: more of them overlap better and cost more messages.
inline constexpr size_t kOverlappingPieces = 8;
// On slow links the shortest piece, in costs of a piece: links pass a few packets at once, so a
// relay costs less than a piece.
inline constexpr double kLeastPieceInCosts = 14;

// --- Copies and combines ---
// Shown by: copy_table; brigade_bench spread --cases reduce

// Runs as long are combined where they lie; shorter ones are gathered into a block first.
inline constexpr size_t kCombinedInPlaceBytes = 256;
// Such a block: two of them stay in the first-level cache.
inline constexpr size_t kCombineBlockBytes = 4096;

}  // namespace brigade::rules

#endif  // BRIGADE_MEMBUF_RULES_H_
