// Rules of pblas_shim/: its thresholds that were set by measurement, or chosen if no measurement
// applied: products that leave the PBLAS. If a value is wrong for a machine, change it here, run
// the command of its section, and record the result in docs/results/thresholds.md.
//
// Each line: the value in the unit of its name; what a larger value costs or gains against a
// smaller one. All ranks must have equal tables. Another value of a rule marked "order" changes the
// order in which a sum is combined, and so its last bits.

#ifndef BRIGADE_PBLAS_SHIM_RULES_H_
#define BRIGADE_PBLAS_SHIM_RULES_H_

#include <cstdint>

namespace brigade::rules {

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

#endif  // BRIGADE_PBLAS_SHIM_RULES_H_
