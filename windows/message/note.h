// Note: a control message of a window.
//
// What one rank asks of another comes in the order in which it was asked, and is done in that
// order. Data that do not fit into a note follow it as pieces, on the point-to-point channel to the
// target, or, of a reply, on the column's channel to the origin. A piece is announced when it
// is posted, so nobody lends memory to one that may not come: the first of a request without reply
// by the request itself, if there is memory for it then, and others by notes of their own. Pieces
// that go straight from where they lie to their places need none, and are announced ahead.

#ifndef BRIGADE_WINDOWS_MESSAGE_NOTE_H_
#define BRIGADE_WINDOWS_MESSAGE_NOTE_H_

#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "patterns/engine/group_control.h"
#include "transport/channel.h"
#include "transport/control.h"
#include "windows/elements/accumulate.h"
#include "windows/elements/element.h"
#include "windows/layout/layout_names.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

inline constexpr ChannelKind kRequestChannel = ChannelKind::kPointToPoint;
inline constexpr ChannelKind kReplyChannel = ChannelKind::kColumn;

// Part of what is sent: numbers keep their meaning.
enum class NoteKind : uint8_t {
  kPut = GroupControl::kFirstKindOfOthers,
  kGet,
  kAccumulate,
  kFetch,   // get-accumulate; one that is a no-op carries no data
  kSwap,    // compare-and-swap: what is expected, then what replaces it
  kLayout,  // what a name stands for, in serial form
  kPiece,   // of the request before it
  kReply,   // data for the request `token`
  kFlush,   // asks for kFlushed with its token when all before it is done; op: a FlushedPart
  kFlushed,
  kLock,     // op: the LockKind
  kUnlock,   // answered by kFlushed
  kGranted,  // of the lock of rank `token`
  kPost,
  kComplete,
  kNotify,
  kFence,  // its origin is in its next fence
  kWake,   // says nothing: its origin has said something in the target's page, who may sleep
  kLeft,   // its origin and all ranks below it in the tree have left the window
  kAllLeft,
};

// What a kFlush makes complete for its origin. Checks alone look at it.
enum class FlushedPart : uint8_t { kAll, kReads };

struct Note {
  static constexpr uint16_t kContiguous = UINT16_MAX;

  NoteKind kind = NoteKind::kFlush;
  uint8_t op = 0;
  Element element = Element::kByte;
  uint8_t inlined = 0;                  // bytes of data that follow in the same message
  uint16_t layout_index = kContiguous;  // of the target's layout
  AccessEnd end = AccessEnd::kEpoch;    // of a request; but for kNotification of checks alone
  uint8_t fences = 0;              // of a request: those that its origin has behind it, modulo 256
  uint32_t layout_generation = 0;  // of it; else see TakeStraight
  uint32_t token = 0;  // of a request with data and without reply: bytes of a piece behind it
  int64_t offset = 0;  // in the target's memory, in bytes
  int64_t bytes = 0;   // of data, all pieces together; of kPiece and kReply: of this one

  AccumulateOp accumulate_op() const { return static_cast<AccumulateOp>(op); }
  // Of a request for adjacent bytes: its reply lands in its place, in pieces of any length.
  void TakeStraight() { layout_generation = 1; }
  bool takes_straight() const { return layout_index == kContiguous && layout_generation != 0; }
};
static_assert(sizeof(Note) == 32, "no padding");

// What fits into the message behind the note.
inline constexpr int64_t kMostInlined = kMostControlBytes - sizeof(Note);

struct NoteMessage {
  Note note;
  std::byte data[kMostInlined];

  ConstByteSpan span() const {
    return {reinterpret_cast<const std::byte*>(this), sizeof(Note) + note.inlined};
  }
};
static_assert(sizeof(NoteMessage) == kMostControlBytes, "it is one control message");

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_NOTE_H_
