// LinkFrom: a link as machine files describe it, from the times of a few messages.

#ifndef BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_
#define BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_

#include <cstddef>

#include "patterns/rules.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// The messages that are timed. The long one is the longest eager message over TCP. In the longer
// one, bursts and the wait for a grant are a small part.
inline constexpr size_t kShortProbeBytes = 8;
inline constexpr size_t kLongProbeBytes = size_t{60} << 10;
inline constexpr size_t kLongerProbeBytes = size_t{1} << 20;
// The segments of a message that is broadcast along a ring: the shortest that the model considers.
inline constexpr size_t kSegmentProbeBytes = rules::kLeastSegmentBytes;

// Measured times on one kind of edge; zeros if nothing was measured.
struct EdgeTimes {
  double hop_us = 0;     // one hop of a short message
  double long_us = 0;    // sending and receiving a long one
  double longer_us = 0;  // and a longer one
  // For sending and receiving a byte: the time of the call, and the time of the processor, which
  // includes work after the call and polls.
  double call_byte_us = 0;
  double processor_byte_us = 0;
  double segment_us = 0;  // each further one of many short segments, while all ranks work
};

// Returns whether LinkFrom can compute a link from these times.
bool IsSensible(const EdgeTimes& times);

// Other properties of edges and ranks.
struct EdgeKind {
  bool within_host = false;    // there is no link: messages are processor work
  bool shares_memory = false;  // this work is copies
  size_t eager_bytes = 0;      // Capabilities::eager_segment_bytes
  double copy_byte_us = 0;     // a byte from memory to memory
  double ranks_per_processor = 1;
};

// REQUIRES: IsSensible(times).
Link LinkFrom(const EdgeTimes& times, const EdgeKind& kind);

// Returns the time of one copy of a byte to or from staging memory, where all ranks share memory. A
// rank that exchanges a long message makes both copies of it, while the other ranks of its
// processor do the same.
double StagedByteUs(const EdgeTimes& times, double ranks_per_processor);

// Returns the link that stands for messages in shared memory, without their copies. `ranks`: among
// which the segments were broadcast.
Link SharedMemoryLink(const EdgeTimes& times, int ranks, double ranks_per_processor);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_LINK_ESTIMATE_H_
