// InlineProgram: the steps of a schedule as a flat list, for calls whose messages are one segment
// each and lie beside their flags.

#ifndef BRIGADE_PATTERNS_PLAN_INLINE_PROGRAM_H_
#define BRIGADE_PATTERNS_PLAN_INLINE_PROGRAM_H_

#include <cstddef>
#include <vector>

#include "patterns/engine/scope.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

struct InlineProgram {
  static constexpr size_t kMostStreams = 5;

  // In the order in which one rank runs them. `peer` is a rank of the group. Differences from the
  // schedule: (1) no step copies user memory to a slot; later steps read the user memory itself,
  // (2) kFree is for received slots only.
  std::vector<Step> steps;
  // The blocks that sends read from user memory, by difference (1); -1: the matrix.
  std::vector<int> copied_blocks;
  // The longest message, as it is on the wire: one copy for each of its receivers.
  size_t most_bytes = 0;
  // Messages that find no slot take staging memory, which the core has for all of them. Otherwise
  // each rank gets one message at most, and all slots must be free before the first message is
  // sent.
  bool fits_core = true;
};

// Returns an empty program if the schedule cuts its matrix or sends several blocks in a message.
InlineProgram CompileInline(const Schedule& schedule, const Scope& scope);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_INLINE_PROGRAM_H_
