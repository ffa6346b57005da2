// The arithmetic of accumulates: target = target (op) operand, element by element.
//
// A NaN has the bits that the processor computes: accumulates of several origins arrive in any
// order, so a canonical NaN would not make results repeatable. Maxima and minima compare as C does:
// if the values are equal, or one is a NaN, the target's value stays. Integers wrap, and complex
// products are rounded, as combine.h says.
//
// Source: MPI-3.1, sections 5.9.2 and 11.3.4.

#ifndef BRIGADE_MEMBUF_ACCUMULATE_H_
#define BRIGADE_MEMBUF_ACCUMULATE_H_

#include <cstddef>

#include "membuf/element.h"

namespace brigade {

// Returns whether accumulates combine elements by the operation. kReplace and kNoOp take all
// elements, also kMixed; the table in README.md, which is MPI's, lists the other operations.
bool IsDefined(CombineOp op, Element element);

// Combines `count` packed elements, which need no alignment. Not atomic: callers hold a lock if
// others access the target. REQUIRES: IsDefined(op, element); no overlap.
void Accumulate(CombineOp op, Element element, size_t count, std::byte* target,
                const std::byte* operand);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_ACCUMULATE_H_
