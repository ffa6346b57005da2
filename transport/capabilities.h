// Capabilities: what a transport promises and needs, and what is fast on it.

#ifndef BRIGADE_TRANSPORT_CAPABILITIES_H_
#define BRIGADE_TRANSPORT_CAPABILITIES_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// What is fast. Whatever stands here, every call works.
struct Tuning {
  // Pieces of about this size move a long message fastest.
  size_t preferred_piece_bytes = size_t{32} << 10;
  // Of a long message from point to point, what goes to the network at once: pieces that hold a
  // multiple of it cost least. 0: any length is as good.
  size_t segment_bytes = 0;
  // Shorter messages are cut into several pieces, too, of at least this length: both sides then
  // copy at the same time. 0: not worth it.
  size_t overlap_piece_bytes = 0;
  // Where links are slower than the ranks that relay on them: in the time that a piece costs a
  // relay, whatever its length, a link moves so many bytes. Long messages that are relayed are cut
  // so that pieces and relays together cost least. 0: links are not what is waited for.
  size_t piece_cost_bytes = 0;
  // Of a message whose header goes ahead of its data (eager_piece_bytes), so many bytes at most,
  // header included, go with the header: they fill the time until the receiver has granted a
  // place for the rest. 0: the header goes alone.
  size_t first_piece_bytes = 0;
  // A receiver sends the credits of landings up to this length along with something else; a longer
  // landing may cost a message of its own, and should be expected to be filled. SIZE_MAX: there
  // are no credits.
  size_t lazy_credit_bytes = SIZE_MAX;
};

// What holds: callers may count on it, and must heed it.
struct Capabilities {
  const char* name = "";
  // A receive's lease may point into the sender's chunk; the landing is then left untouched.
  bool lands_in_peer_memory = false;
  // Every lease points into the sender's memory: a landing is never written to, only its length
  // counts and its pointer may be null.
  bool needs_landing = true;
  // Sends and landings need memory registered with domain(); otherwise any memory will do.
  bool needs_registered_memory = false;
  // A returned send reaches its receiver although its sender never calls this library (or MPI)
  // again.
  bool progresses_alone = false;
  // Whoever is gone is found out, and what is under way with it ends with kPeerLost.
  bool reports_losses = true;
  // A piece longer than its landing leaves the memory behind a landing of at most so many bytes
  // untouched. A longer landing is safe only if it is as long as the longest piece the peer might
  // send.
  size_t kept_landing_bytes = SIZE_MAX;
  // The longest piece that any slot of an edge holds itself (Endpoint::edges); 0 if there are no
  // edges.
  size_t line_bytes = 0;
  // The longest piece, in bytes, that one post may carry.
  size_t max_piece_bytes = SIZE_MAX;
  // Pieces up to this length travel without asking the receiver; longer ones are met with more
  // ceremony, and the header of a point-to-point message then goes ahead of its data, so that the
  // data can land where they are wanted.
  size_t eager_piece_bytes = SIZE_MAX;

  Tuning tuning;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CAPABILITIES_H_
