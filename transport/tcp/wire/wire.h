// The protocol of a connection between two endpoints: a handshake, then frames, in one direction
// only.
//
// The handshake proves that its sender knows the key of the target endpoint. Ranks
// of a job exchange keys through MPI, so a stranger is refused before it sends anything else. The
// proof is a message authentication code: it needs no answer, so a connection opens without code of
// the peer. It protects against strangers, not against modification of packets on the way.
//
// A frame is a segment or a control message, followed by its payload, or a notice, which has none.
// All numbers are little-endian.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_WIRE_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "membuf/status.h"

namespace brigade {

// Identifies an endpoint for its life; random. Not a secret.
struct EndpointId {
  uint64_t words[2] = {};

  friend bool operator==(const EndpointId& a, const EndpointId& b) {
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
  }
  friend bool operator<(const EndpointId& a, const EndpointId& b) {
    return a.words[0] != b.words[0] ? a.words[0] < b.words[0] : a.words[1] < b.words[1];
  }
};

// The key of one endpoint; random. Peers that connect prove that they know it.
struct AuthKey {
  unsigned char bytes[32] = {};
};
static_assert(std::is_trivially_copyable_v<EndpointId> && std::is_trivially_copyable_v<AuthKey>,
              "both travel as bytes");

// Fills in fresh, unpredictable random bits. kUnavailable: the system provides none, or has no
// libsodium, which handshakes need. Any thread.
Status MakeRandom(EndpointId* id);
Status MakeRandom(AuthKey* key);

inline constexpr size_t kHandshakeBytes = 80;

// REQUIRES for both functions: this host has libsodium, which is true once it has made a key.

// Writes the handshake of endpoint `from` for a connection to endpoint `to`, whose key is
// `key_of_to`. `serial`: the number of connections that `from` has made to `to` before, so that a
// repeated handshake is refused. `out`: kHandshakeBytes.
void WriteHandshake(const AuthKey& key_of_to, const EndpointId& from, const EndpointId& to,
                    uint32_t serial, std::byte* out);

// Reads the handshake at `in`, kHandshakeBytes, as the endpoint `me` with the key `mine`.
// kMismatch, with `from` and `serial` untouched: not a handshake, of another version, for another
// endpoint, or with a wrong key. The time of the check does not depend on the key.
Status ReadHandshake(const AuthKey& mine, const EndpointId& me, const std::byte* in,
                     EndpointId* from, uint32_t* serial);

enum class FrameKind : uint8_t {
  kSegment = 1,  // `bytes` bytes of payload follow
  kGrant,        // the other side may send more
  kClosed,       // the receiver has closed the group: messages are discarded
  kShutdown,     // the last frame: the connection ends in order
  kWaiting,  // a segment waits for a grant: the receiver replies kClosed if it has closed the group
  kControl,  // a control message of `bytes` bytes, which follow
};

struct Frame {
  uint32_t group = 0;  // identity on the wire
  uint32_t bytes = 0;  // of payload
  uint32_t count = 0;  // its meaning belongs to the kind
  FrameKind kind = FrameKind::kSegment;
  uint8_t channel = 0;  // a ChannelKind
};

inline constexpr size_t kFrameBytes = 16;

// Writes a frame. `out`: kFrameBytes.
void WriteFrame(const Frame& frame, std::byte* out);

// Reads the frame at `in`, kFrameBytes. kInternal, with the reason and with `frame` untouched: an
// invalid mark (the start of every frame), kind, channel or length. The limit of the length is
// `max_segment_bytes` for a segment, kMostControlBytes for a control message, and 0 for a notice.
Status ReadFrame(const std::byte* in, size_t max_segment_bytes, Frame* frame);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_WIRE_H_
