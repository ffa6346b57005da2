// RmaFrame: a control message of a window: a header, and data that fit behind it.
//
// Requests of one rank to another arrive in the order in which they were made, and are carried out
// in that order. Data that do not fit into a frame follow it as segments, on the point-to-point
// channel to the target, or, of a reply, on the column's channel to the origin. A segment is
// announced when it is posted, so no memory waits for a segment that may not come: the first
// segment of a request without reply by the request itself, if there is memory for it then, and
// others by frames of their own. Unstaged segments need no memory, and are announced ahead.

#ifndef BRIGADE_WINDOWS_MESSAGE_RMA_FRAME_H_
#define BRIGADE_WINDOWS_MESSAGE_RMA_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "membuf/byte_span.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/engine/group_control.h"
#include "transport/channel.h"
#include "transport/control.h"
#include "windows/layout/layout_names.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

inline constexpr ChannelKind kRequestChannel = ChannelKind::kPointToPoint;
inline constexpr ChannelKind kReplyChannel = ChannelKind::kColumn;

// Part of the wire format: a number keeps its meaning. The first five are operations, in the order
// of Access::Kind.
enum class RmaKind : uint8_t {
  kPut = GroupControl::kFirstKindOfOthers,
  kGet,
  kAccumulate,
  kFetch,    // get-accumulate; one that is a no-op carries no data
  kSwap,     // compare-and-swap: the expected value, then the new one
  kLayout,   // a layout in serial form, with the index that stands for it
  kSegment,  // of the request before it
  kReply,    // data for the request `token`
  kFlush,    // requests kFlushed with its token when all before it is done; op: a FlushedPart
  kFlushed,
  kLock,     // op: the LockKind
  kUnlock,   // answered by kFlushed
  kGranted,  // of the lock of rank `token`
  kPost,
  kComplete,
  kNotify,
  kFence,  // its origin is in its next fence
  kWake,   // its origin has set a flag in the page of the target, which may sleep
  kLeft,   // its origin and all ranks below it in the tree have left the window
  kAllLeft,
};

// REQUIRES: an operation.
inline Access::Kind AccessKindOf(RmaKind kind) {
  return static_cast<Access::Kind>(static_cast<int>(kind) - static_cast<int>(RmaKind::kPut));
}
static_assert(static_cast<int>(RmaKind::kSwap) - static_cast<int>(RmaKind::kPut) ==
              static_cast<int>(Access::Kind::kSwap));

// The requests that a kFlush completes for its origin. Only the checking mode reads this.
enum class FlushedPart : uint8_t { kAll, kReads };

struct RmaHeader {
  static constexpr uint16_t kContiguous = UINT16_MAX;

  RmaKind kind = RmaKind::kFlush;
  uint8_t op = 0;
  Element element = Element::kByte;
  uint8_t inlined = 0;                  // bytes of data in the same frame
  uint16_t layout_index = kContiguous;  // of the target's layout
  AccessEnd end = AccessEnd::kEpoch;    // of a request; for the checking mode, except kNotification
  uint8_t fences = 0;                   // of a request: the fences of its origin so far, modulo 256
  uint32_t layout_generation = 0;       // of it; else see TakeUnstaged
  uint32_t token = 0;  // of a request with data and without reply: bytes of a segment behind it
  int64_t offset = 0;  // in the target's memory, in bytes
  int64_t bytes = 0;   // of data, all segments together; of kSegment and kReply: of this one

  CombineOp accumulate_op() const { return static_cast<CombineOp>(op); }
  // Of a request for adjacent bytes: its reply is received in place, in segments of any length.
  void TakeUnstaged() { layout_generation = 1; }
  bool takes_unstaged() const { return layout_index == kContiguous && layout_generation != 0; }
};
static_assert(sizeof(RmaHeader) == 32, "no padding");

// The most data behind a header.
inline constexpr int64_t kMostInlined = kMostControlBytes - sizeof(RmaHeader);

struct RmaFrame {
  RmaHeader header;
  std::byte data[kMostInlined];

  RmaFrame() = default;
  explicit RmaFrame(RmaKind kind, uint32_t token = 0, uint8_t op = 0) {
    header.kind = kind;
    header.token = token;
    header.op = op;
  }
  ConstByteSpan span() const {
    return {reinterpret_cast<const std::byte*>(this), sizeof(RmaHeader) + header.inlined};
  }
};
static_assert(sizeof(RmaFrame) == kMostControlBytes, "it is one control message");

// kMismatch: a frame of rank `from` is an error; `what` begins with the verb.
inline Status BadFrame(int from, const std::string& what) {
  return {StatusCode::kMismatch, "rank " + std::to_string(from) + " " + what};
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_RMA_FRAME_H_
