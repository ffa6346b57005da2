// Rules: every threshold that was set by measurement, or chosen if no measurement applied, in one
// table. If a value is wrong for a machine, change it here, run the command of its section, and
// record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one.
//
// All ranks must have equal tables. Another value of a rule marked "order" changes the order in
// which a sum is combined, and so its last bits.

#ifndef BRIGADE_MEMBUF_RULES_H_
#define BRIGADE_MEMBUF_RULES_H_

#include <cstddef>
#include <cstdint>

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
// Broadcasts and portions on slow links: a ring, once there is enough to fill it; below: a tree or
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
inline constexpr int kMostRanksOfPortions = 8;
// Most ranks of a zero-copy collective: on more ranks, each waits for more others.
inline constexpr int kMostRanksOfZeroCopy = 8;
// Branches of a wide tree, and of the tree within a host: more of them, fewer relays, and more work
// for the root.
inline constexpr int kWideBranches = 8;

// --- The choice among ways by the cost model ---
// Shown by: ./bench/run.sh --model

// Among candidates within this factor of the fastest, the one in the fewest pieces is taken: it has
// the fewest chances of a late rank.
inline constexpr double kAboutAsFast = 1.05;
// Among candidates in one piece within this factor, the one with the fewest messages in a row is
// taken: a rank has to wake for each message.
inline constexpr double kAboutAsFastToGather = 1.2;
// Candidates within this factor count as equally fast.
inline constexpr double kAsFast = 1.005;
// A topology that the call names is replaced by one that is faster by this factor. Below 2, the
// limit of a split ring.
inline constexpr double kTooSlow = 1.75;
// The shortest piece of a candidate: the costs per piece dominate in shorter ones.
inline constexpr size_t kLeastPieceBytes = size_t{4} << 10;
// If ranks share processors: branches of a root that count as equally good as fewer. More favours
// bushier trees, whose root sends every piece several times.
inline constexpr size_t kFewestBranches = 2;

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

// Fewest pieces of a relayed message: a relay then sends while it receives. More overlap better and
// cost more messages.
inline constexpr size_t kLeastPieces = 2;
// Pieces where both sides copy at once: more of them overlap better and cost more messages.
inline constexpr size_t kOverlappingPieces = 8;
// The shortest piece on slow links, in costs of a piece: links pass a few packets at once, so a
// relay costs less than a piece.
inline constexpr double kLeastPieceInCosts = 14;
// Slots of a stream where memory allows: more keep a link full while a rank is late, and hold more
// staging memory.
inline constexpr int kWindowSlots = 4;
// Receives that eager segments post at once: the next message arrives while this one is used. More
// need more receive buffers.
inline constexpr size_t kReceivesAhead = 2;
// Receives posted at once if messages wait for their receives: more children can send at once.
inline constexpr size_t kMostReceivesAhead = 8;

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

// --- How a rank waits ---
// Shown by: brigade_bench pingpong; ./bench/run.sh; bell_table

// Idle polls until a transport without a rule of its own yields: a peer on another processor has
// answered by then; more polls take time from ranks on this processor.
inline constexpr uint64_t kSpins = 20;
// Polls of a patient rank on a transport that does not sleep.
inline constexpr uint64_t kPollsAwake = 100;

// Over shared memory. Polls without a pause of the processor: the message is seen sooner, and the
// sender's writes are slower.
inline constexpr uint64_t kShmHotPolls = 200;
// Polls until the rank yields, at most 20 us, then yields until it sleeps, some 10 ms: more shorten
// the latency of late messages, and keep the processor from other ranks for longer.
inline constexpr uint64_t kShmSpins = 600;
inline constexpr uint64_t kShmYields = 20000;
// Polls and yields if ranks outnumber processors.
inline constexpr uint64_t kShmSpinsIfCrowded = 20;
inline constexpr uint64_t kShmYieldsIfCrowded = 100;
// The longest sleep, after which the rank checks for lost ranks: longer means fewer wake-ups and
// later detection.
inline constexpr int kShmSleepUs = 20000;
// The longest sleep if a sender may not see that this rank sleeps, and wakes it late.
inline constexpr int kShmSleepUnheardUs = 500;
// Polls per check of pieces that receivers release: reading memory that they are about to write
// slows them down; rarer checks release memory later.
inline constexpr int kShmPollsPerReturnLook = 8;
// The shortest time between checks for killed ranks: a check is a system call per peer; rarer
// checks detect a loss later.
inline constexpr int kShmLossLookUs = 20000;
// Polls per check for lost ranks, of a progress owner that does not sleep.
inline constexpr uint64_t kShmPollsPerLossLook = 1 << 16;

// Over MPI. Polls until the rank yields, with a processor of its own and with shared processors.
inline constexpr uint64_t kMpiSpins = 200;
inline constexpr uint64_t kMpiSpinsIfShared = 20;

// Waits that poll MPI, which progresses the program's own messages. Time that a rank waits before
// it polls: a later poll progresses a message later, and spares short waits the poll.
inline constexpr int kMpiPollUs = 100;
// The time to which the interval of polls doubles while MPI is idle: longer means fewer wake-ups of
// a sleeping rank, and a later next message.
inline constexpr int kMpiLongestPollUs = 2000;
// Polls that take at least this processor time have progressed a message, and the next poll comes
// soon: an idle poll takes 0.02 us over shared memory and 2 us over TCP.
inline constexpr int kMpiBusyPollUs = 10;
// Yields of a wait per look at the clock for these polls, and calls that do not wait: fewer looks
// cost less, and polls come later.
inline constexpr int kYieldsPerMpiLook = 8;
inline constexpr uint64_t kCallsPerMpiLook = 128;

// Over TCP. How long a rank with a processor of its own spins: the time of a short message.
inline constexpr int kTcpSpinUs = 20;
// Yields until the rank sleeps: a grant usually comes back before. If ranks share processors, each
// poll takes time from other ranks.
inline constexpr int kTcpYields = 1000;
inline constexpr int kTcpYieldsIfShared = 25;
// The first sleep; after it, delayed grants are sent. Longer delays them for longer.
inline constexpr int kTcpFirstSleepUs = 1000;
// Further sleeps, after each of which the rank checks for lost ranks.
inline constexpr int kTcpSleepUs = 20000;
// Sleeps of a rank that leaves.
inline constexpr int kTcpLeavingSleepUs = 1000;

// Over several transports. Polls until the last transport is nudged, and polls between nudges: more
// nudges progress the program's MPI messages sooner, and take longer than a poll of memory.
inline constexpr uint64_t kAutoPollsBeforeNudge = 64;
inline constexpr uint64_t kAutoPollsPerNudge = 8;
// Polls until the rank naps, some 10 ms of yields, and the length of a nap: a message of one
// transport does not wake a rank that sleeps in another.
inline constexpr uint64_t kAutoPollsBeforeNap = 20000;
inline constexpr int kAutoNapUs = 50;
// The longest sleep of a progress thread if shared memory is used, too, whose messages do not wake
// it.
inline constexpr int kAutoLongestAwaitUs = 500;
// Naps per nudge of all transports.
inline constexpr uint64_t kAutoPollsPerLook = 128;
// Polls per poll of TCP if memory is shared, too: TCP takes longer to poll.
inline constexpr int kAutoPollsPerTcpLook = 4;

// Idle polls, about a microsecond, until a wait looks at the clock for the report of long waits:
// fewer add a look to short waits.
inline constexpr uint64_t kPollsBeforeClock = 8;
// Polls per further look; each poll may sleep.
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
// How long a send from user memory retries until there is room for it, or a grant of its receiver
// (Endpoint::SendNow): a few times the answer of a waiting receiver on one host, and the time to
// copy half a megabyte.
inline constexpr int kPlaceUs = 80;
// How long the program must stay out of the library until the progress thread takes over: more
// spares frequent callers a wake-up, and delays messages that arrive meanwhile.
inline constexpr int kHelperGraceUs = 200;
// The time to which this doubles while the program always comes back.
inline constexpr int kHelperLongestGraceUs = 6400;
// Polls of the progress thread before it sleeps.
inline constexpr int kHelperLooks = 20;
// Sleep of the progress thread on an endpoint that cannot wake it: it doubles while no message
// moves.
inline constexpr int kHelperShortestRestUs = 1000;
inline constexpr int kHelperLongestRestUs = 8000;

// --- What is fast on a transport ---
// Shown by: brigade_bench pingpong, over each transport

// Shared memory. Length of the pieces into which even short messages are cut, so that both sides
// copy at once: longer ones overlap less and cost fewer slots.
inline constexpr size_t kShmOverlapBytes = size_t{16} << 10;
// The longest piece that is pushed out of the sender's cache: short pieces reach the receiver
// sooner, longer ones, which the receiver prefetches, later.
inline constexpr size_t kShmDemotedBytes = 1152;

// The longest inline message in a wide ring: one cache miss less for its receiver, and each slot of
// a wide ring has this length.
inline constexpr size_t kShmWideInlineBytes = size_t{32} << 10;
// The number of the long inline message with which an edge gets a wide ring; earlier ones go as
// pieces: fewer save cache misses, more save memory on edges with few messages.
inline constexpr int kShmInlinesBeforeWide = 4;
// Wide rings of a rank, each of some 263 KB: more serve more edges, and take more memory.
inline constexpr size_t kShmMostWideBytes = size_t{8} << 20;
// The longest inline message of a collective call, summed over its receivers: beyond, one copy in
// staging memory for all receivers is cheaper.
inline constexpr size_t kMostInlineBytes = size_t{4} << 10;

// Sends that a rank completes in one poll: freeing their overflow memory may take longer than a
// copy, and meanwhile the rank receives nothing and seems lost.
inline constexpr int kShmMostSendsAtOnce = 2;

// Pieces of a message that eager segments move one by one if other ranks wait for them: more save
// the bookkeeping of windows for more messages, and copy less while the receiver is late.
inline constexpr int64_t kMostShortPieces = 8;
// Pieces if no rank forwards them: they are inline messages, without bookkeeping.
inline constexpr int64_t kMostInlinePieces = 512;
static_assert(kPairSumBytes <= kMostInlinePieces * kShmOverlapBytes, "they go inline");

// Kernel copies of point-to-point messages: the shortest and the longest that are measured. Below,
// a staged message costs less than the system call; beyond, two processors that copy at once were
// faster in all measurements.
inline constexpr size_t kLeastKernelCopyBytes = size_t{8} << 10;
inline constexpr size_t kMostKernelCopyBytes = size_t{2} << 20;
// Time of a staged message: in times of a bare ring's, if two ranks measure both, and in times of a
// copy within one cache, if one rank estimates. More favours copies by the kernel.
inline constexpr double kStagedOverBare = 1.25;
inline constexpr double kStagedInCopies = 2.5;
// Trials of each length, of which the fastest counts.
inline constexpr int kKernelCopyTrials = 5;

// The longest gap between two blocks of another process that is read along with them: the kernel
// looks up the pages of fewer ranges, and copies more for nothing.
inline constexpr size_t kReadAcrossBytes = 1024;

// Operations on memory of another process that are delegated to that process: at least this many
// blocks, each at most this long. The kernel takes half a millisecond for the least; fewer blocks
// complete before a progress thread polls again. Longer blocks would be copied twice for little
// gain.
inline constexpr int64_t kLeastBlocksToAskFor = 1024;
inline constexpr int64_t kMostBlockBytesToAskFor = 1024;

// Posted buffers in memory that both ranks map, to which the sender copies at once. The shortest:
// shorter ones go inline.
inline constexpr size_t kLeastPostedBytes = (size_t{4} << 10) + 1;
// The shortest run of sender or receiver, if the runs of both differ: below, a step along both
// costs more than staging the bytes.
inline constexpr size_t kLeastUnequalRunBytes = 256;
// Freed memory of brigade_alloc() that is kept for an allocation of equal length: more saves system
// calls and page faults, and takes memory from other processes.
inline constexpr size_t kMostKeptBytes = size_t{8} << 20;
inline constexpr size_t kMostKeptBlocks = 16;

// Zero-copy reads. The fewest bytes that a rank exposes on average: shorter messages are staged
// before all ranks have agreed.
inline constexpr size_t kLeastExposedBytes = size_t{32} << 10;
// A block of a partial sum of exposed matrices: it stays in the second-level cache beside the block
// that is added to it. Longer blocks leave the cache, shorter ones are more steps.
inline constexpr size_t kPartialSumBytes = size_t{32} << 10;

// MPI. Pieces of a long message: fewer messages, less overlap.
inline constexpr size_t kMpiPieceBytes = size_t{128} << 10;
// The longest send that every fabric of Open MPI accepts at once: it is tested for completion when
// it is posted.
inline constexpr size_t kMpiEagerBytes = 4096;
// The shortest posted buffer that is described to MPI as a datatype: below, a copy is cheaper.
inline constexpr size_t kMpiTypedBytes = size_t{4} << 10;

// TCP. Pieces of a long message: fewer messages, less overlap.
inline constexpr size_t kTcpPieceBytes = size_t{256} << 10;
// Bytes of one write to the network: 45 packets of 1448 bytes on Ethernet, a little more on
// loopback. A segment that is not full costs as much as a full one.
inline constexpr size_t kTcpSegmentBytes = 45 * 1448;
// The cost of a piece at a relay, in bytes that a link moves in that time: more make longer pieces.
inline constexpr size_t kTcpPieceCostBytes = 1000;
// The longest piece that goes before its receive is posted, 64 KiB and a header: more messages
// spare a round trip, and a receiver that does not come holds more memory.
inline constexpr size_t kTcpEagerBytes = (size_t{64} << 10) + 64;
// The longest landing whose credit goes with something else: more spare a message, and more short
// sends wait for one.
inline constexpr size_t kTcpLazyCreditBytes = size_t{32} << 10;
// The shortest mean run that the kernel gathers out of user memory: a copy is faster below.
inline constexpr size_t kTcpRunInPlaceBytes = 256;
// The most that one write takes: enough that the system call costs little beside it.
inline constexpr size_t kTcpWriteBytes = size_t{256} << 10;
// Up to this many sockets are read without a poll: faster than asking the system which are ready,
// but each read costs more.
inline constexpr size_t kTcpFewSockets = 4;
// Reads of these sockets per poll of all descriptors.
inline constexpr unsigned kTcpLooksPerPoll = 16;
// Reads in a row of one busy socket, before other sockets are read.
inline constexpr int kTcpReadsInARow = 8;
// The shortest rest of a piece that io_uring reads into registered memory, and the shortest that it
// reads as a whole where ranks share processors: less is there before the ring would have read it.
inline constexpr size_t kUringFixedReadBytes = size_t{64} << 10;
inline constexpr size_t kUringWholeReadBytes = 1024;

// --- One-sided communication, and its faces ---
// Shown by: superstep_table exchange; ./bench/run.sh --study as

// Most ranks of a window that enter a fence by a message from each to each: on more ranks an
// all-reduce takes less time; fewer would take two rounds instead of one.
inline constexpr int kMostRanksTelling = 8;
// Most ranks of a fence in which each writes a word to the memory of all others: on more ranks a
// tree takes fewer cache misses in a row.
inline constexpr int kMostMeetingInPages = 16;
// Bytes of a packet that are sent before its receiver knows its length: more save a second round
// for longer packets, and each receiver allocates them for every other process.
inline constexpr size_t kFirstPacketBytes = 4096;
// Over MPI's messages, the longest data of LI that are sent in the first packet: a message of their
// own saves two copies of longer data.
inline constexpr size_t kMostPackedBytes = 2048;
// LI's mailboxes in shared memory: the longest put, since of more bytes the kernel's one copy is as
// fast as two; and what all boxes of a process take together.
inline constexpr size_t kMostMailboxPutBytes = size_t{256} << 10;
inline constexpr size_t kMostBoxesBytes = size_t{4} << 20;
// The mailboxes of a window, for short puts into private memory of the same host: the memory of
// each member, once there are any. Less is soon full, and the kernel's copy takes longer.
inline constexpr size_t kMailboxBytesOfWindow = size_t{384} << 10;
// The longest piece of a put that waits for the note that follows it: a longer one is on its way
// while others are packed.
inline constexpr int64_t kMostHeldBytes = 16384;

// --- Products under ScaLAPACK ---
// Shown by: a program of PDGEMM with BRIGADE_PBLAS=on and =off

// Order. A product whose m, n and k are all at least this is computed by one-sided communication:
// below, the exchanges before and after it cost more than it gains.
inline constexpr int64_t kLeastPblasSize = 512;
// The same of half a product, P?SYRK or P?HERK; and the least rows and columns of its grid. In one
// row or column gets bring part of A twice.
inline constexpr int64_t kLeastPblasHalfSize = 2000;
inline constexpr int kLeastPblasHalfSide = 2;

}  // namespace brigade::rules

#endif  // BRIGADE_MEMBUF_RULES_H_
