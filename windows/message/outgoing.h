// Outgoing: one request of this rank that goes by messages, from when it is made until it is over.

#ifndef BRIGADE_WINDOWS_MESSAGE_OUTGOING_H_
#define BRIGADE_WINDOWS_MESSAGE_OUTGOING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "membuf/strided_layout.h"
#include "patterns/engine/staged_buffer.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/note.h"
#include "windows/message/straight_data.h"

namespace brigade {

// Values of a datatype in this rank's memory.
struct OriginData {
  std::byte* data = nullptr;
  TypedLayout layout;
  int64_t count = 0;

  int64_t bytes() const { return layout.size() * count; }
};

struct Outgoing {
  // What goes to the target, and where what comes back goes.
  Outgoing(int target_rank, const Note& request, const OriginData& send, const OriginData& receive)
      : target(target_rank), sent(send), received(receive) {
    message.note = request;
    from.emplace(&sent.layout, sent.count);
    to.emplace(&received.layout, received.count);
  }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  bool wants_reply() const { return to->size() > 0; }
  bool has_gone() const { return from->position() == from->size(); }  // its data
  bool is_sent() const { return announced && has_gone(); }
  // What comes back is a note, for which nobody needs memory.
  bool is_answered_by_note() const { return to->size() <= kMostInlined; }
  bool is_answered() const { return to->position() == to->size(); }
  bool is_over() const { return is_sent() && is_answered(); }

  const int target;
  NoteMessage message;  // its first; data that fit are in it
  bool announced = false;
  const OriginData sent;
  std::optional<LayoutCursor> from;  // behind what has gone
  std::vector<std::byte> serial;     // of kLayout: what is sent
  // Whether it may be sent from where it lies, in pieces that land where they belong; and what is.
  bool may_go_straight = false;
  std::optional<StraightData> straight;

  const OriginData received;
  std::optional<LayoutCursor> to;  // behind what has come
  // Where replies land: in place, or in a buffer that was reserved before the request went.
  bool lands_in_place = false;
  StridedLayout place;
  size_t posted_in_place = 0;
  StagedBuffer* landing = nullptr;

  int64_t announced_back = 0;  // bytes of replies

  // A note to its target ends its epoch, or flushes it: if all of it is one note, it may wait for
  // more to go with.
  bool is_followed = false;
  bool fence_follows = false;         // soon: so may its last piece
  uint64_t key = 0;                   // in the outbox
  std::atomic<bool>* over = nullptr;  // set once all of its memory is the caller's again
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_OUTGOING_H_
