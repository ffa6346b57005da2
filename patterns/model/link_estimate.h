// LinkFrom: a link as machine files describe it, from the times of a few messages.

#ifndef BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_
#define BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_

#include <cstddef>

#include "membuf/rules.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// The messages that are timed. The long one is the longest that goes without asking over TCP; of
// the longer one, what is passed at once, and asking, are little.
inline constexpr size_t kShortProbeBytes = 8;
inline constexpr size_t kLongProbeBytes = size_t{60} << 10;
inline constexpr size_t kLongerProbeBytes = size_t{1} << 20;
// And pieces, in which one that is broadcast around was cut: the shortest that come into question.
inline constexpr size_t kPieceProbeBytes = rules::kLeastPieceBytes;

// What was measured on one kind of edge; zeros: nothing.
struct EdgeTimes {
  double hop_us = 0;     // a short message, passed on
  double long_us = 0;    // sending and receiving a long one
  double longer_us = 0;  // and a longer one
  // For sending and receiving a byte: as long as a send lasts, and by the processor's clock, which
  // also counts what is done later, and looking for what is not there yet.
  double call_byte_us = 0;
  double processor_byte_us = 0;
  double piece_us = 0;  // each more of many short pieces, while all ranks are at work
};

// Whether a link can be told from these.
bool IsSensible(const EdgeTimes& times);

// What edges and ranks are like besides.
struct EdgeKind {
  bool within_host = false;    // no link is in between: messages are work
  bool shares_memory = false;  // and all of it copies
  size_t eager_bytes = 0;      // Capabilities::eager_piece_bytes
  double copy_byte_us = 0;     // a byte from memory to memory
  double ranks_per_processor = 1;
};

// REQUIRES: IsSensible(times).
Link LinkFrom(const EdgeTimes& times, const EdgeKind& kind);

// The same where all ranks share memory, of one copy of a byte to staging memory, or out of it:
// whoever exchanged a long message made both of each, while as many others did as share a
// processor.
double StagedByteUs(const EdgeTimes& times, double ranks_per_processor);

// And of the edges there: their messages, without these copies. `ranks`: among which the pieces
// were broadcast.
Link SharedMemoryLink(const EdgeTimes& times, int ranks, double ranks_per_processor);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_
