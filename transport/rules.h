// Rules of transport/: its thresholds that were set by measurement, or chosen if no measurement
// applied: waits, and lengths of messages on each transport. If a value is wrong for a machine,
// change it here, run the command of its section, and record the result in
// docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables.

#ifndef BRIGADE_TRANSPORT_RULES_H_
#define BRIGADE_TRANSPORT_RULES_H_

#include <cstddef>
#include <cstdint>

namespace brigade::rules {

// --- How a rank waits ---
// Shown by: brigade_bench pingpong; ./bench/run.sh; doorbell_table

// Idle polls until a transport without a rule of its own yields: a peer on another processor has
// answered by then; more polls take time from ranks on this processor.
inline constexpr uint64_t kSpins = 20;
// A yield that takes longer shows that another program computes on this processor. For so long
// ranks sleep instead of yielding, until they try a yield again: longer delays the return to
// yields, which are faster on an idle machine.
inline constexpr int kLongYieldUs = 2000;
inline constexpr int kSleepsAfterLongYieldUs = 100000;
// The time slice of a process that communicates: the shortest that Linux allows. Longer lets a rank
// that computes keep the processor for longer from a rank that a message wakes.
inline constexpr uint64_t kTimeSliceNs = 100000;
// Polls of a patient rank on a transport that does not sleep.
inline constexpr uint64_t kPollsAwake = 100;

// Over shared memory. Polls without a pause of the processor: the message is seen sooner, and the
// sender's writes are slower.
inline constexpr uint64_t kShmHotPolls = 20;
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
inline constexpr int kShmSleepWithoutDoorbellUs = 500;
// Polls per check of segments that receivers release: reading memory that they are about to write
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
// Polls per look for control messages: fewer take longer, more deliver these messages later.
inline constexpr uint64_t kMpiPollsPerControlLook = 64;

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

// --- What is fast on a transport ---
// Shown by: brigade_bench pingpong, over each transport

// Shared memory. Length of the segments into which even short messages are cut, so that both sides
// copy at once: longer ones overlap less and cost fewer slots.
inline constexpr size_t kShmOverlapBytes = size_t{16} << 10;

// The longest inline message in a wide ring: one cache miss less for its receiver, and each slot of
// a wide ring has this length.
inline constexpr size_t kShmWideInlineBytes = size_t{32} << 10;
// The number of the long inline message with which an edge gets a wide ring; earlier ones go as
// segments: fewer save cache misses, more save memory on edges with few messages.
inline constexpr int kShmInlinesBeforeWide = 4;
// Wide rings of a rank, each of some 263 KB: more serve more edges, and take more memory.
inline constexpr size_t kShmMostWideBytes = size_t{8} << 20;

// Sends that a rank completes in one poll: freeing their overflow memory may take longer than a
// copy, and meanwhile the rank receives nothing and seems lost.
inline constexpr int kShmMostSendsAtOnce = 2;

// Kernel copies: the shortest that are measured, and the longest of messages that go one way.
// Below, a staged message costs less than the system call; beyond, two processors that copy at once
// were faster in all measurements.
inline constexpr size_t kLeastKernelCopyBytes = size_t{8} << 10;
inline constexpr size_t kMostKernelCopyBytes = size_t{2} << 20;
// The longest reads by all ranks at once that are measured: longer ones gained as much or more, and
// a longer trial delays the first group.
inline constexpr size_t kMostTriedReadBytes = size_t{512} << 10;
// Time of a staged message: in times of a bare ring's, if two ranks measure both, one way, and in
// times of a copy within one cache, if one rank estimates. More favours copies by the kernel.
inline constexpr double kStagedOverBare = 1.25;
inline constexpr double kStagedInCopies = 2.5;
// Trials of each length, of which the fastest counts.
inline constexpr int kKernelCopyTrials = 5;

// The longest gap between two blocks of another process that is read along with them: the kernel
// looks up the pages of fewer ranges, and copies more for nothing.
inline constexpr size_t kReadAcrossBytes = 1024;

// Posted buffers in memory that both ranks map, to which the sender copies at once. The shortest:
// shorter ones go inline.
inline constexpr size_t kLeastPostedBytes = (size_t{4} << 10) + 1;
// Freed memory of brigade_alloc() that is kept for an allocation of equal length: more saves system
// calls and page faults, and takes memory from other processes.
inline constexpr size_t kMostKeptBytes = size_t{8} << 20;
inline constexpr size_t kMostKeptBlocks = 16;

// MPI. Segments of a long message: fewer messages, less overlap.
inline constexpr size_t kMpiSegmentBytes = size_t{128} << 10;
// The longest send that every fabric of Open MPI accepts at once: it is tested for completion when
// it is posted.
inline constexpr size_t kMpiEagerBytes = 4096;
// The shortest posted buffer that is described to MPI as a datatype: below, a copy is cheaper.
inline constexpr size_t kMpiTypedBytes = size_t{4} << 10;

// TCP. Segments of a long message: fewer messages, less overlap.
inline constexpr size_t kTcpSegmentBytes = size_t{256} << 10;
// Bytes of one write to the network: 45 packets of 1448 bytes on Ethernet, a little more on
// loopback. A unit that is not full costs as much as a full one.
inline constexpr size_t kTcpWriteUnitBytes = 45 * 1448;
// The cost of a segment at a relay, in bytes that a link moves in that time: more make longer
// segments.
inline constexpr size_t kTcpSegmentCostBytes = 1000;
// The longest segment that goes before its receive is posted, 64 KiB and a header: more messages
// spare a round trip, and a receiver that does not come holds more memory.
inline constexpr size_t kTcpEagerBytes = (size_t{64} << 10) + 64;
// The longest receive buffer whose credit goes with something else: more spare a message, and more
// short sends wait for one.
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
// The shortest rest of a segment that io_uring reads into registered memory, and the shortest that
// it reads as a whole where ranks share processors: less is there before the ring would have read
// it.
inline constexpr size_t kUringFixedReadBytes = size_t{64} << 10;
inline constexpr size_t kUringWholeReadBytes = 1024;
// Segments that a trial of a host reads in each way: more take longer when a group is made, and the
// median is less often wrong.
inline constexpr int kReadTrials = 7;
// The time of a segment through io_uring over that by plain calls from which plain calls read: less
// than this is within the error of a trial, and io_uring reads on while a rank computes.
inline constexpr float kRingOverPlain = 1.1f;

}  // namespace brigade::rules

#endif  // BRIGADE_TRANSPORT_RULES_H_
