// Rules of li_shim/: thresholds of LI that were set by measurement, or chosen if no measurement
// applied. If a value is wrong for a machine, change it here, run the command of its section, and
// record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables.

#ifndef BRIGADE_LI_SHIM_RULES_H_
#define BRIGADE_LI_SHIM_RULES_H_

#include <cstddef>

namespace brigade::rules {

// --- Exchanges of a superstep ---
// Shown by: ./bench/run.sh --study as

// Over MPI's messages, bytes of a packet that are sent before its receiver knows its length: more
// save a second round for longer packets, and each receiver allocates them for every other process.
inline constexpr size_t kLiFirstPacketBytes = 4096;
// Over MPI's messages, the longest data that are sent in the first packet: a message of their own
// saves two copies of longer data.
inline constexpr size_t kMostPackedBytes = 2048;
// Mailboxes in shared memory: the longest put, since of more bytes the kernel's one copy is as fast
// as two; and what all boxes of a process take together.
inline constexpr size_t kMostMailboxPutBytes = size_t{256} << 10;
inline constexpr size_t kMostBoxesBytes = size_t{4} << 20;

}  // namespace brigade::rules

#endif  // BRIGADE_LI_SHIM_RULES_H_
