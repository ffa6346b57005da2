// Compilers: the patterns themselves. Each is a pure function from rank numbers to the schedule of
// one rank, and each has a file of its own. n is the number of segments of the message, h the
// height of the tree, s the number of ranks.
//
// Copies are counted in segments per rank, between user memory and staging; a transport that lands
// in place saves those of the receiving side from the second segment on. Combines are counted
// apart.

#ifndef BRIGADE_PATTERNS_CATALOGUE_COMPILERS_H_
#define BRIGADE_PATTERNS_CATALOGUE_COMPILERS_H_

#include <vector>

#include "patterns/schedule/pattern.h"
#include "patterns/schedule/read_schedule.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/topology.h"

namespace brigade {

// A schedule depends on nothing but these parameters. All ranks of the scope agree on all of them
// but `rank`.
struct ScheduleParameters {
  int size = 1;
  int rank = 0;
  // Root of a rooted pattern; for send and receive, the peer.
  int root = 0;
  Topology topology;
  // Direction of the rings of multi-broadcast and multi-reduce; no difference in other shapes.
  bool decreasing = false;
  // Contributions are combined in the order of ranks: 0, 1, 2, ... The topology is one that
  // InRankOrder (catalogue.h) returns.
  bool in_rank_order = false;
  // The ranks read each other's staging memory: one copy in serves all, and nobody need relay.
  bool shares_memory = false;
  // Some do and some do not: what lies in a third one's memory is not passed on along a ring, where
  // it would be kept until the ring is through.
  bool some_share_memory = false;
  // The host of each rank, where messages are to go by host, of which there are several then: trees
  // as RankTree (geometry.h) says, rings through all ranks of a host before they go on to the next.
  // Empty: by rank. Of a combine it changes the order.
  std::vector<int> hosts;
};

// Buffered strided send to `root` (AP3000 paper section 4.3). Copies: n.
Schedule CompileSend(const ScheduleParameters& p);
// Receive from `root`. Copies: n.
Schedule CompileReceive(const ScheduleParameters& p);

// Broadcast along any tree: the tree broadcast (AP3000 paper 4.2) and, over rings, the pipelined
// broadcast (4.3). Every relay forwards the slot it received, before it copies out. Copies: n
// everywhere (0 if s = 1). Rounds: n + h - 1 times the largest number of children.
Schedule CompileBroadcast(const ScheduleParameters& p);

// Two trees: half of the matrix, rounded to elements, down each. Circulant graph: as many shares as
// it has rounds in a phase, and the last block (shares.h); blocks are sent on one after the other
// in the rounds that circulant_graph.h says, from the slots they came in, of which two at most wait
// for that and a third is being received. Where memory is shared, a slot would lie in another
// rank's memory and keep it from what the next block needs: all on one host go along a tree of
// eight branches, and where some share memory, one rank of each host takes part for all.

// Reduce to the root along any tree (AP3000 paper 4.2). Children are combined in increasing
// relative rank, the lower relative rank on the left. Copies: n at a leaf, 0 elsewhere; combines: n
// per child. Exchange, where memory is shared: all send to the root, which combines as the tree
// would; copies: n elsewhere, none at the root; combines: (s - 1) n at the root.
Schedule CompileReduce(const ScheduleParameters& p);

// In the order of ranks with another root than 0: to rank 0, which sends the result to the root,
// one more message in a row; copies: n more at the root. An exchange has the order without it.

// Two trees and circulant graphs: as their broadcasts, backwards, each share in an order of its own
// (docs/design/patterns.md). Copies: one per segment of which the rank is a leaf, combines: one per
// message that comes.

// Result everywhere. Trees and rings: reduce to rank 0, then broadcast back along the same tree,
// segment by segment, the broadcast of a segment overlapping the reduction of later ones; copies: 2
// n at a leaf, n elsewhere. Hypercube: partners exchange partial results, one dimension at a time;
// ranks beyond the largest power of two fold in first and get the result at the end; copies: n, or
// 2 n at a rank that folds in. Reduce-scatter + allgather: multi-reduce of the matrix's shares, one
// per rank, then multi-broadcast of the results, along the increasing ring (where memory is shared,
// each to all at once), sums one segment ahead of results; n of each share; copies: (s + 1) n, and
// where only some share memory s - 2 more at each relay; combines: (s - 1) n. Exchange, where
// memory is shared: all send to all, and each combines as the tree would; copies: n, combines: (s -
// 1) n. Everywhere the same bits, if all ranks round alike.
Schedule CompileAllReduce(const ScheduleParameters& p);

// Ring multi-broadcast (AP3000 paper 4.2): block q travels from rank q once around; where memory
// is shared, rank q sends it to each; by host, once around the hosts and in each to all. Copies:
// one per segment of every block, own (in) and others' (out). Circulant graph (the Bruck algorithm
// with halved skips; where memory is shared as above, never by host): ceil(log2 s) messages in a
// row, each with segment i of all blocks that it brings; copies: 2 (s - 1) segments.
Schedule CompileMultiBroadcast(const ScheduleParameters& p);

// Ring multi-reduce (AP3000 paper 4.2): the partial of block q starts at the rank after q and
// ends at q, every rank on the way combining its contribution on the right. Copies: one per segment
// of the first block sent; combines: one per segment of the s - 1 others. Circulant graph (the
// multi-broadcast's backwards; on any hosts, never by host): ceil(log2 s) messages in a row, each
// with the partials of segment i of all blocks that it brings, added by distance
// (docs/design/patterns.md); the partials that a rank keeps lie in one slot. Copies: floor(s / 2)
// segments, and for each odd skip above 2 one, of a partial that the message before did not bring;
// combines: as along the ring. Where up to 8 ranks share memory, each sends every other its
// contribution to that one's block, which combines all in the same order; copies: one per segment
// of the s - 1 blocks of others.
//
// In the order of ranks: all blocks along the chain 0, 1, 2, ..., and from the last rank each to
// its own. Copies: one per segment of all blocks at rank 0, one of the own block at all but the
// last rank; combines: one per segment of all blocks at all but rank 0.
Schedule CompileMultiReduce(const ScheduleParameters& p);

// Dissemination barrier: ceil(log2 s) rounds of empty messages. Where memory is shared: each
// sends to all others, or on more than kMostRanksOnExchange ranks, up and down a tree.
Schedule CompileBarrier(const ScheduleParameters& p);

// Gather along a k-nomial tree: a relay puts the blocks of all ranks below it behind its own, into
// one message, with segment i of each block that has one. Copies: one per segment of every block at
// its owner, at the root, and at each relay on its way; messages: 1 at every rank but the root, for
// each segment of the longest block that it sends; h in a row. On a flat tree the root receives s -
// 1 messages of one block each, and no relay copies. By host, each message to another host has the
// blocks of all ranks of a host, or of several hosts. Along a ring, which ends at the root, each
// message has one block, which relays forward from the slot in which it arrived, without a copy;
// messages: s - d at the d-th rank behind the root; never by host.
Schedule CompileGather(const ScheduleParameters& p);
// Scatter: the same backwards.
Schedule CompileScatter(const ScheduleParameters& p);

// All-to-all, pairwise: each rank sends every other rank its block, beginning with the rank behind
// it. Copies: one per segment of every block, at its sender and at its receiver, and one of the
// block that stays, straight to where it is wanted. Messages: s - 1, for each segment.
//
// Circulant graph, for blocks of equal lengths (the Bruck algorithm with halved skips; where memory
// is shared, pairwise): ceil(log2 s) messages in a row, each with segment i of at most floor(s / 2)
// blocks. A relay copies a block out to the place of a block that arrives later, and in again
// from there. Copies: one in and one out for each message of a block, and one of the block that
// stays; s log2 s + 1 segments if s is a power of two.
Schedule CompileAllToAll(const ScheduleParameters& p);

// Scan along a chain of all ranks, or, on a hypercube's topology, by recursive doubling: in round k
// a rank adds, on the left, the sum of the 2^k contributions before those that it has. The operands
// of every combine are in the order of ranks. Messages: chain, 1 at every rank but the last;
// doubling, one for each 2^k < s - r at rank r. Combines: chain, 1; doubling, one for each 2^k <=
// r. Copies: chain, n (0 at the last rank); doubling, n in at every rank but the last, and n out at
// rank r > 0 if it sends its result on: r + 2 d < s for the greatest power of two d <= r. Rank 0
// writes nothing: its contribution is the result.
Schedule CompileScan(const ScheduleParameters& p);
// Scan without the rank's own contribution. Chain: combines: 1, at the first and the last rank 0;
// copies: n. Doubling: the sum that is sent and the result are combined apart.
Schedule CompileExscan(const ScheduleParameters& p);

// Zero-copy reads, where memory is shared. Contributions are combined in the order of the ring. In
// the all-reduce each rank combines one share, of which the others read the sum alone. Copies:
// multi-broadcast one of each block of others, all-to-all one of each block, multi-reduce none,
// all-reduce one of each share of others. Combines: s - 1 of one block or share.
ReadSchedule ReadMultiBroadcast(const ScheduleParameters& p);
ReadSchedule ReadAllToAll(const ScheduleParameters& p);
ReadSchedule ReadMultiReduce(const ScheduleParameters& p);
ReadSchedule ReadAllReduce(const ScheduleParameters& p);

// Returns whether zero-copy reads may replace the schedule of `topology`: they combine in its
// order, or on two ranks in the other one, which gives the same bits if the operation `commutes`;
// and in it each rank sends before it waits, so a rank that takes the schedule keeps no other
// waiting.
bool ReadsKeepOrder(Pattern pattern, const Topology& topology, int size, bool commutes);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_COMPILERS_H_
