// Rules: every threshold that was set by measurement, or chosen where there was nothing to measure,
// in one table. Whoever has a machine on which one is wrong changes it here, runs the command of
// its section, and writes down what came of it in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one.
//
// All ranks must have the same table. Of a rule marked "order", which decides in which order a sum
// is combined, another value gives other last bits.

#ifndef BRIGADE_MEMBUF_RULES_H_
#define BRIGADE_MEMBUF_RULES_H_

#include <cstddef>
#include <cstdint>

namespace brigade::rules {

// --- The topology of a call that names none ---
// Shown by: brigade_bench spread --cases broadcast,reduce,all-reduce,multi-broadcast,multi-reduce

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
// Where ranks share memory. Short sums of so many ranks to all, and barriers, take one round, in
// which each sends to all, in place of two along a tree: fewer times to wait, and more messages.
inline constexpr size_t kExchangeBytes = size_t{2} << 10;
inline constexpr int kMostRanksOnExchange = 4;
// Sums of two ranks to both, which either makes of all that the other sends, as long as that may
// lie beside its flag. Longer ones are dealt: two rounds, and fewer copies.
inline constexpr size_t kPairSumBytes = size_t{8} << 20;
// Short sums to one rank, which combines alone: fewer ranks wait, and one does all the work.
inline constexpr int kMostRanksGathered = 16;
// Short multi-reduces of so many ranks: each sends every other its contribution to that one's
// portion, one round in place of a logarithm of them, and more messages.
inline constexpr int kMostRanksOfPortions = 8;
// Most ranks that read each other's matrices: with more, each waits for more others.
inline constexpr int kMostRanksOfZeroCopy = 8;
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
// Where ranks share processors: branches of a root that are as good as fewer. More favours bushier
// trees, whose root takes every piece several times.
inline constexpr size_t kFewestBranches = 2;

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

// Pieces of a message that is relayed, at least: a relay then sends while it receives. More overlap
// better and cost more messages.
inline constexpr size_t kLeastPieces = 2;
// Pieces where both sides copy at once: more of them overlap better and cost more messages.
inline constexpr size_t kOverlappingPieces = 8;
// On slow links the shortest piece, in costs of a piece: links pass a few packets at once, so a
// relay costs less than a piece.
inline constexpr double kLeastPieceInCosts = 14;
// Slots of a stream where memory allows: more keep a link full while a rank is late, and hold more
// staging memory.
inline constexpr int kWindowSlots = 4;
// Receives that eager segments post at once: the next message arrives while this one is used. More
// take more landings.
inline constexpr size_t kReceivesAhead = 2;
// The same where messages wait for their receives: more children are asked at once.
inline constexpr size_t kMostReceivesAhead = 8;

// --- Copies and combines ---
// Shown by: copy_table; brigade_bench spread --cases reduce

// Runs as long are combined where they lie; shorter ones are gathered into a block first.
inline constexpr size_t kCombinedInPlaceBytes = 256;
// Such a block: two of them stay in the first-level cache.
inline constexpr size_t kCombineBlockBytes = 4096;
// The longest run that is copied by inline moves: longer ones are faster so within the cache, and
// slower from memory, where memcpy is ahead.
inline constexpr size_t kInlineCopyBytes = 512;
// The longest run that memcpy moves by itself, wherever it lies: longer ones it may leave to
// `rep movsb`, which takes 20 times as long where the two sides lie badly.
inline constexpr size_t kMostCopiedByMemcpy = 2048;
// And of those the shortest that it moves by itself again, as most that do not fit into a cache.
inline constexpr size_t kLeastStreamedByMemcpy = size_t{1} << 20;
// The shortest copy that memcpy leaves to `rep movsb`, which does not fetch the lines that it
// overwrites from the processor that read them last. Shorter runs are gathered into a block, as
// long as stays in the first-level cache beside them, and go on by one such copy.
inline constexpr size_t kLeastPushedBytes = size_t{4} << 10;
inline constexpr size_t kPushedBlockBytes = size_t{8} << 10;
// The shortest run that is gathered into controller memory, on machines that have such: below, the
// copy costs more than the faster send saves.
inline constexpr size_t kControllerRunBytes = 2400;

// --- How a rank waits ---
// Shown by: brigade_bench pingpong; ./bench/run.sh; bell_table

// Idle polls until a transport without a rule of its own yields: a peer on another processor has
// answered by then, and more are taken from ranks that share this one.
inline constexpr uint64_t kSpins = 20;
// Polls that a rank which is patient counts on such a transport, where no sleep comes.
inline constexpr uint64_t kPollsAwake = 100;

// Over shared memory. Polls without a pause of the processor: the message is seen sooner, and the
// sender's writes are slower.
inline constexpr uint64_t kShmHotPolls = 200;
// Polls until it yields, at most 20 us; then yields until it sleeps, some 10 ms: who is called late
// answers sooner, and the processor is lost to others for longer.
inline constexpr uint64_t kShmSpins = 600;
inline constexpr uint64_t kShmYields = 20000;
// The same where ranks outnumber processors.
inline constexpr uint64_t kShmSpinsIfCrowded = 20;
inline constexpr uint64_t kShmYieldsIfCrowded = 100;
// The longest sleep, after which it looks for ranks that are gone: fewer wake-ups, later news.
inline constexpr int kShmSleepUs = 20000;
// The same where a sender may not see that this rank sleeps, and wakes it late.
inline constexpr int kShmSleepUnheardUs = 500;
// Polls for each look at pieces that receivers give back: reading what they are about to write
// slows them down, and memory comes back later.
inline constexpr int kShmPollsPerReturnLook = 8;
// The shortest time between looks for ranks that were killed: each is a system call for every peer,
// and later looks are later news.
inline constexpr int kShmLossLookUs = 20000;
// Polls for each look for ranks that are gone, of a driver that does not sleep.
inline constexpr uint64_t kShmPollsPerLossLook = 1 << 16;

// Over MPI. Polls until it yields, with a processor of its own and where ranks share them.
inline constexpr uint64_t kMpiSpins = 200;
inline constexpr uint64_t kMpiSpinsIfShared = 20;

// Where waits poll MPI, which moves the program's own messages. How long a rank waits until it
// polls: a later poll moves a message later, and spares short waits the poll.
inline constexpr int kMpiPollUs = 100;
// To which the time between two polls doubles while MPI has nothing to do: a rank that sleeps wakes
// less often, and the next message waits longer.
inline constexpr int kMpiLongestPollUs = 2000;
// The processor time of a poll that has moved something, after which the next one comes soon: an
// idle poll takes 0.02 us over shared memory and 2 us over TCP.
inline constexpr int kMpiBusyPollUs = 10;
// Yields of a wait for each look at the clock for that, and calls that wait for nothing: fewer
// looks cost less, and polls come later.
inline constexpr int kYieldsPerMpiLook = 8;
inline constexpr uint64_t kCallsPerMpiLook = 128;

// Over TCP. How long it spins, with a processor of its own: as long as a short message takes.
inline constexpr int kTcpSpinUs = 20;
// Yields until it sleeps: a grant comes back within so many. Where ranks share processors each look
// takes from what others compute.
inline constexpr int kTcpYields = 1000;
inline constexpr int kTcpYieldsIfShared = 25;
// The first sleep; after it, grants that were held back go out. Longer holds them back for longer.
inline constexpr int kTcpFirstSleepUs = 1000;
// Further ones, after each of which it looks for ranks that are gone.
inline constexpr int kTcpSleepUs = 20000;
// Those of a rank that leaves.
inline constexpr int kTcpLeavingSleepUs = 1000;

// Over several transports. Polls until the last one is nudged, and polls from nudge to nudge: what
// the program gave to MPI moves sooner, and each nudge takes longer than a look at memory.
inline constexpr uint64_t kAutoPollsBeforeNudge = 64;
inline constexpr uint64_t kAutoPollsPerNudge = 8;
// Polls until it naps, some 10 ms of yields, and how long: nobody wakes a sleeper of one transport
// for a message of another.
inline constexpr uint64_t kAutoPollsBeforeNap = 20000;
inline constexpr int kAutoNapUs = 50;
// The longest sleep of a helper where memory is used, too, which does not wake it.
inline constexpr int kAutoLongestAwaitUs = 500;
// Naps for each nudge of all transports.
inline constexpr uint64_t kAutoPollsPerLook = 128;
// Polls for each look at TCP where memory is shared, too: that takes longer than a look at memory.
inline constexpr int kAutoPollsPerTcpLook = 4;

// Idle polls, about a microsecond, until a wait looks at the clock to see whether it is to be
// reported: fewer add that look to short waits.
inline constexpr uint64_t kPollsBeforeClock = 8;
// Polls for each further look, each of which may sleep.
inline constexpr uint64_t kPollsPerClock = 16;
// How long a call waits for another rank until it finds out whether the two made the same call. It
// sends one control message then: less sends more of them while ranks are merely late, more says
// later that calls do not match. Between two such checks the time doubles, up to the second value.
inline constexpr double kMatchCheckSeconds = 1;
inline constexpr double kMostMatchCheckSeconds = 32;
// How often a returned send looks for staging memory again before it takes overflow memory: its
// chunks are warm, and a receiver that does not come costs as much. The clock bounds it, too: after
// twice kPlaceUs it has looked enough.
inline constexpr uint64_t kLooksBeforeOverflow = 4000;
// How long a send from user memory looks for a place at its receiver: a few times what the answer
// of one that waits takes on one host, and the time of half a megabyte's copy.
inline constexpr int kPlaceUs = 80;
// How long an owner must stay away until its helper drives: more spares frequent callers a wake-up,
// and leaves what comes meanwhile where it is.
inline constexpr int kHelperGraceUs = 200;
// To which that doubles while the owner always comes back.
inline constexpr int kHelperLongestGraceUs = 6400;
// How often it then looks before it waits to be woken.
inline constexpr int kHelperLooks = 20;
// The helper's rest on an endpoint that cannot be woken: it doubles while nothing moves.
inline constexpr int kHelperShortestRestUs = 1000;
inline constexpr int kHelperLongestRestUs = 8000;

// --- What is fast on a transport ---
// Shown by: brigade_bench pingpong, over each transport

// Shared memory. Pieces that short messages are cut into, too, so that both sides copy at once:
// longer ones overlap less and cost fewer slots.
inline constexpr size_t kShmOverlapBytes = size_t{16} << 10;
// The longest piece that is pushed out of the sender's cache: short ones reach the receiver sooner,
// and longer ones, whose lines it fetches ahead of need, later.
inline constexpr size_t kShmDemotedBytes = 1152;

// The longest line, beyond that of a narrow ring: one miss less for its receiver, and each slot of
// a wide ring takes as much.
inline constexpr size_t kShmWideLineBytes = size_t{32} << 10;
// The long line with which an edge gets a wide ring; those before go as pieces: fewer spare misses,
// more spare memory where hardly anything is sent.
inline constexpr int kShmLinesBeforeWide = 4;
// Wide rings of a rank, each of some 263 KB: more serve more edges, and take more memory.
inline constexpr size_t kShmMostWideBytes = size_t{8} << 20;
// The longest inline message of a collective call, all copies for its receivers together: of longer
// ones, one copy in staging memory that serves all receivers takes less.
inline constexpr size_t kMostInlineBytes = size_t{4} << 10;

// Sends that a rank ends in one look: their overflow memory goes to the system, which may take
// longer than a copy, and meanwhile it receives nothing and is believed to have gone.
inline constexpr int kShmMostSendsAtOnce = 2;

// The pieces of a message that eager segments move one by one, where others wait for them: more
// spare more messages the bookkeeping of windows, and copy less while nobody takes what was sent.
inline constexpr int64_t kMostShortPieces = 8;
// The same where nobody forwards them: they lie beside their flags, and need no bookkeeping.
inline constexpr int64_t kMostLinePieces = 512;
static_assert(kPairSumBytes <= kMostLinePieces * kShmOverlapBytes, "they go as lines");

// Kernel copies of messages from point to point. The shortest and the longest that are looked at.
// Below, the message itself costs less than the system call; beyond, two processors that copy at
// once are ahead wherever it was measured.
inline constexpr size_t kLeastKernelCopyBytes = size_t{8} << 10;
inline constexpr size_t kMostKernelCopyBytes = size_t{2} << 20;
// What a staged message takes: in times of a bare ring's, where two ranks try both, and in times of
// a copy within one cache, where one guesses. More has the kernel copy more.
inline constexpr double kStagedOverBare = 1.25;
inline constexpr double kStagedInCopies = 2.5;
// Of each length, of which the best counts.
inline constexpr int kKernelCopyTrials = 5;

// The longest gap between two blocks of another process that is read along with them: the kernel
// looks up the pages of fewer ranges, and copies more for nothing.
inline constexpr size_t kReadAcrossBytes = 1024;

// Operations on memory of another process that are left to that process: of so many blocks at
// least, each so long at most. The kernel takes half a millisecond for so many; less is done before
// a helper that has just looked looks again. Longer blocks are copied twice for little.
inline constexpr int64_t kLeastBlocksToAskFor = 1024;
inline constexpr int64_t kMostBlockBytesToAskFor = 1024;

// Landings in memory that both ranks map, to which the sender copies at once. The shortest: what
// goes beside its flag needs none.
inline constexpr size_t kLeastSharedLandingBytes = (size_t{4} << 10) + 1;
// Of strided data whose runs differ from those of the landing, the shortest of either: below, a
// step along both costs more than to stage the bytes.
inline constexpr size_t kLeastUnequalRunBytes = 256;
// What is freed of such memory and kept for the next allocation as long: more spares more system
// calls and page faults, and is lost to others.
inline constexpr size_t kMostKeptBytes = size_t{8} << 20;
inline constexpr size_t kMostKeptBlocks = 16;

// Zero-copy reads. The least that a rank exposes in the mean: shorter messages are staged before
// all ranks have agreed.
inline constexpr size_t kLeastExposedBytes = size_t{32} << 10;
// A block of a partial sum of exposed matrices: it stays in the second-level cache beside the block
// that is added to it. Longer blocks leave the cache, shorter ones are more steps.
inline constexpr size_t kPartialSumBytes = size_t{32} << 10;

// MPI. Pieces of a long message: fewer messages, less overlap.
inline constexpr size_t kMpiPieceBytes = size_t{128} << 10;
// The longest send that every fabric of Open MPI takes at once: it is looked at when it is posted.
inline constexpr size_t kMpiEagerBytes = 4096;
// The shortest landing that is described to MPI: below, a copy is cheaper than the description.
inline constexpr size_t kMpiTypedBytes = size_t{4} << 10;

// TCP. Pieces of a long message: fewer messages, less overlap.
inline constexpr size_t kTcpPieceBytes = size_t{256} << 10;
// What goes to the network at once: 45 packets of 1448 bytes on Ethernet, a little more on
// loopback. A segment that is begun costs as much as a full one.
inline constexpr size_t kTcpSegmentBytes = 45 * 1448;
// What a piece costs a relay, in bytes that a link moves meanwhile: more make longer pieces.
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
// So few sockets are read to find out whether anything has come: it tells sooner than to ask which
// have something, and each look costs more.
inline constexpr size_t kTcpFewSockets = 4;
// Looks at these for each look at everything else.
inline constexpr unsigned kTcpLooksPerPoll = 16;
// Reads in a row of a socket that has more and more, before others have their turn.
inline constexpr int kTcpReadsInARow = 8;
// The shortest rest of a piece that io_uring reads into registered memory, and the shortest that it
// reads as a whole where ranks share processors: less is there before the ring would have read it.
inline constexpr size_t kUringFixedReadBytes = size_t{64} << 10;
inline constexpr size_t kUringWholeReadBytes = 1024;

// --- One-sided communication, and its faces ---
// Shown by: superstep_table exchange; ./bench/run.sh --study as

// Ranks of a window, at most, who tell each other that they are in a fence, a note from each to
// each: of more a sum takes less. Fewer take two rounds where one would do.
inline constexpr int kMostRanksTelling = 8;
// The same where each writes a word to all others' memory: of more, a tree takes fewer misses in a
// row.
inline constexpr int kMostMeetingInPages = 16;
// What goes of a packet before its receiver knows how long it is: more spares longer packets a
// second round, and each receiver holds as much for every other.
inline constexpr size_t kFirstPacketBytes = 4096;
// Over MPI's messages, the longest data of LI that go in such a packet: longer ones are worth a
// message of their own, which spares two copies.
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
