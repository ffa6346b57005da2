// Call check: errors in the arguments of a call that one rank can detect by itself. Arguments that
// differ between ranks show in the headers of their messages (wire_header.h).

#ifndef BRIGADE_PATTERNS_PLAN_CALL_CHECK_H_
#define BRIGADE_PATTERNS_PLAN_CALL_CHECK_H_

#include "membuf/combine.h"
#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

// All return kInvalidArgument, naming the pattern and what is wrong, if rank `rank` of a scope of
// `size` ranks cannot make `call`. `entry` is its pattern's, the scope of a point-to-point call the
// whole group. The first checks the root or peer, the second all that a signature holds, the third
// the call's memory.
Status CheckRoot(const CatalogueEntry& entry, const PatternCall& call, int size);
Status CheckSignature(const CatalogueEntry& entry, const PatternCall& call, int size);
Status CheckMemory(const CatalogueEntry& entry, const PatternCall& call, int size, int rank);
// Returns whether CheckMemory would return OK, for most calls at once; false: it may.
inline bool IsMemoryRight(const CatalogueEntry& entry, const PatternCall& call) {
  return !entry.multi && !call.source && call.matrix.data != nullptr &&
         (!entry.combines || (call.op != CombineOp::kUser &&
                              call.matrix.layout.elem_bytes() == ElementBytes(call.type)));
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_CALL_CHECK_H_
