#include "transport/tcp/wire/wire.h"

#include <cstring>
#include <string>

#include "transport/channel.h"
#include "transport/control.h"
#include "transport/tcp/wire/sodium_library.h"

namespace brigade {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structures travel as they are");

constexpr char kMagic[8] = {'b', 'r', 'i', 'g', 'a', 'd', 'e', '\n'};
constexpr uint32_t kVersion = 2;

// Of the payload of a frame.
size_t MostBytes(FrameKind kind, size_t max_segment_bytes) {
  if (kind == FrameKind::kSegment) return max_segment_bytes;
  return kind == FrameKind::kControl ? kMostControlBytes : 0;
}

// Followed by its authentication code.
struct HandshakeText {
  char magic[8];
  uint32_t version;
  uint32_t serial;
  EndpointId from;
  EndpointId to;
};
static_assert(sizeof(HandshakeText) == 48, "no padding");
static_assert(sizeof(HandshakeText) + crypto_auth_BYTES == kHandshakeBytes);
static_assert(sizeof(AuthKey) == crypto_auth_KEYBYTES);

constexpr uint16_t kFrameMark = 0xb14d;

struct WireFrame {
  uint16_t mark;
  uint8_t kind;
  uint8_t channel;
  uint32_t group;
  uint32_t bytes;
  uint32_t count;
};
static_assert(sizeof(WireFrame) == kFrameBytes, "no padding");

template <typename T>
Status FillRandom(T* out) {
  const SodiumLibrary& library = Libsodium();
  if (!library.status().ok()) {
    return Status(StatusCode::kUnavailable, "peers cannot be authenticated: " +
                                                library.status().message() + SodiumLibrary::kHint);
  }
  if (library.sodium_init() < 0) {
    return Status(StatusCode::kUnavailable, "libsodium does not start");
  }
  library.randombytes_buf(out, sizeof(T));
  return Status();
}

const unsigned char* Unsigned(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

Status MakeRandom(EndpointId* id) { return FillRandom(id); }
Status MakeRandom(AuthKey* key) { return FillRandom(key); }

void WriteHandshake(const AuthKey& key_of_to, const EndpointId& from, const EndpointId& to,
                    uint32_t serial, std::byte* out) {
  HandshakeText text;
  std::memcpy(text.magic, kMagic, sizeof(kMagic));
  text.version = kVersion;
  text.serial = serial;
  text.from = from;
  text.to = to;
  std::memcpy(out, &text, sizeof(text));
  Libsodium().crypto_auth(reinterpret_cast<unsigned char*>(out + sizeof(text)), Unsigned(out),
                          sizeof(text), key_of_to.bytes);
}

Status ReadHandshake(const AuthKey& mine, const EndpointId& me, const std::byte* in,
                     EndpointId* from, uint32_t* serial) {
  const auto mismatch = [](const std::string& what) { return Status(StatusCode::kMismatch, what); };
  HandshakeText text;
  std::memcpy(&text, in, sizeof(text));
  if (std::memcmp(text.magic, kMagic, sizeof(kMagic)) != 0)
    return mismatch("not a Brigade handshake");
  if (text.version != kVersion) {
    return mismatch("a handshake of version " + std::to_string(text.version) +
                    ", this is version " + std::to_string(kVersion));
  }
  if (!(text.to == me)) return mismatch("a handshake for another endpoint");
  if (Libsodium().crypto_auth_verify(Unsigned(in + sizeof(text)), Unsigned(in), sizeof(text),
                                     mine.bytes) != 0) {
    return mismatch("a handshake with a wrong authentication code");
  }
  *from = text.from;
  *serial = text.serial;
  return Status();
}

void WriteFrame(const Frame& frame, std::byte* out) {
  const WireFrame wire = {kFrameMark,    static_cast<uint8_t>(frame.kind),
                          frame.channel, frame.group,
                          frame.bytes,   frame.count};
  std::memcpy(out, &wire, sizeof(wire));
}

Status ReadFrame(const std::byte* in, size_t max_segment_bytes, Frame* frame) {
  const auto broken = [](const char* field, uint32_t value) {
    return Status(StatusCode::kInternal,
                  std::string("a frame whose ") + field + " is " + std::to_string(value));
  };
  WireFrame wire;
  std::memcpy(&wire, in, sizeof(wire));
  if (wire.mark != kFrameMark) return broken("mark", wire.mark);
  const auto kind = static_cast<FrameKind>(wire.kind);
  if (kind < FrameKind::kSegment || kind > FrameKind::kControl) return broken("kind", wire.kind);
  if (wire.channel >= kChannelKinds) return broken("channel", wire.channel);
  if (wire.bytes > MostBytes(kind, max_segment_bytes)) return broken("length", wire.bytes);
  *frame = {wire.group, wire.bytes, wire.count, kind, wire.channel};
  return Status();
}

}  // namespace brigade
