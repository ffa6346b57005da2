// Rules of bsp_shim/: thresholds of BSPlib that were set by measurement, or chosen if no
// measurement applied. If a value is wrong for a machine, change it here, run the command of its
// section, and record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables.

#ifndef BRIGADE_BSP_SHIM_RULES_H_
#define BRIGADE_BSP_SHIM_RULES_H_

#include <cstddef>

namespace brigade::rules {

// --- Exchanges of a superstep ---
// Shown by: ./bench/run.sh --study as

// Where a transport has no credits, bytes of a packet that are sent before its receiver knows its
// length: more save a second round for longer packets, and each receiver allocates them for every
// other process.
inline constexpr size_t kBspFirstPacketBytes = 4096;

}  // namespace brigade::rules

#endif  // BRIGADE_BSP_SHIM_RULES_H_
