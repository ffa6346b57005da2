// Capabilities: guarantees and requirements of a transport, and its tuning.

#ifndef BRIGADE_TRANSPORT_CAPABILITIES_H_
#define BRIGADE_TRANSPORT_CAPABILITIES_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// Hints about performance. Every call works for any values.
struct Tuning {
  // Segments of about this size move a long message fastest.
  size_t preferred_segment_bytes = size_t{32} << 10;
  // Bytes that one write of a long point-to-point message sends: segments that are a multiple of it
  // cost least. 0: all lengths cost the same per byte.
  size_t write_unit_bytes = 0;
  // Messages shorter than preferred_segment_bytes are cut into segments of at least this length,
  // too, so that both sides copy at once. 0: no gain.
  size_t overlap_segment_bytes = 0;
  // On links that are slower than relays: the bytes that a link moves in the time that a relay
  // needs for a segment of any length. Relayed messages are cut so that the cost of segments and
  // relays together is least. 0: links are not the bottleneck.
  size_t segment_cost_bytes = 0;
  // The most bytes of a message, header included, that are sent with a header that precedes its
  // data (eager_segment_bytes): they use the time until the receiver has granted a place for the
  // rest. 0: the header is sent alone.
  size_t first_segment_bytes = 0;
  // A receiver piggybacks the credits of receive buffers up to this length on other messages. A
  // longer receive buffer may cost a message of its own, and should be expected to be filled.
  // SIZE_MAX: there are no credits.
  size_t lazy_credit_bytes = SIZE_MAX;
};

// Guarantees that callers may rely on, and requirements that they must meet.
struct Capabilities {
  const char* name = "";
  // The choice that the transport has made by a measurement, for explanations; empty: none.
  const char* choice = "";
  // A receive's lease may point into the sender's chunk; the receive buffer is then left untouched.
  bool lands_in_peer_memory = false;
  // Every lease points into the sender's memory: a receive buffer is never written to, only its
  // length counts and its pointer may be null.
  bool needs_receive_buffer = true;
  // Sends and receive buffers need memory registered with domain(); otherwise any memory will do.
  bool needs_registered_memory = false;
  // A returned send reaches its receiver although its sender never calls this library (or MPI)
  // again.
  bool progresses_alone = false;
  // Some messages are messages of MPI: they move only while their ranks are in calls.
  bool calls_mpi = false;
  // Lost peers are detected, and pending operations with them end with kPeerLost.
  bool reports_losses = true;
  // A segment longer than its receive buffer leaves the memory behind a receive buffer of at most
  // this length untouched. A longer receive buffer is safe only if it is as long as the longest
  // segment that the peer might send.
  size_t kept_receive_buffer_bytes = SIZE_MAX;
  // The longest inline message of an edge (Endpoint::edges); 0 if there are no edges.
  size_t max_inline_bytes = 0;
  // The longest segment, in bytes, that one post may carry.
  size_t max_segment_bytes = SIZE_MAX;
  // Segments up to this length are eager: they are sent before their receive is posted. Longer ones
  // wait for the receive. The header of a longer point-to-point message precedes its data, so that
  // the data can land in place.
  size_t eager_segment_bytes = SIZE_MAX;

  Tuning tuning;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CAPABILITIES_H_
