// The arithmetic of accumulates: target = target (op) operand, element by element.
//
// NaNs stay as the processor computes them: the order in which accumulates of several origins come
// is not fixed, so their bits cannot be. Maxima and minima compare as C does: of equal values, and
// if one is a NaN, the target's stays. All else is as in combine.h.
//
// Source: MPI-3.1, sections 5.9.2 and 11.3.4.

#ifndef BRIGADE_MEMBUF_ACCUMULATE_H_
#define BRIGADE_MEMBUF_ACCUMULATE_H_

#include <cstddef>

#include "membuf/element.h"

namespace brigade {

// Returns whether windows combine such elements by the operation. kReplace and kNoOp take all
// elements, mixed ones included; for the others see the table in README.md, which is MPI's.
bool IsDefined(CombineOp op, Element element);

// `count` elements, packed; neither needs to be aligned. Not atomic: the caller holds whatever
// makes it so. REQUIRES: IsDefined(op, element); no overlap.
void Accumulate(CombineOp op, Element element, size_t count, std::byte* target,
                const std::byte* operand);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_ACCUMULATE_H_
