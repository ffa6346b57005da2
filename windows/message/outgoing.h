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
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/unstaged_data.h"

namespace brigade {

struct Outgoing {
  // `frame`: the first frame, with data that fit into it. `send`: data that do not fit. Copies the
  // layouts of `send` and `receive`, but not the data.
  Outgoing(uint32_t number, int target_rank, const RmaFrame& frame, const RmaRequest::Values& send,
           const RmaRequest::Values& receive)
      : slot(number), target(target_rank), message(frame) {
    if (send.count != 0) {
      sent.emplace(OriginData{send.data, *send.layout, send.count});
      from.emplace(&sent->layout, send.count);
    }
    if (receive.count != 0) {
      received.emplace(OriginData{receive.data, *receive.layout, receive.count});
      to.emplace(&received->layout, receive.count);
    }
  }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  bool wants_reply() const { return to.has_value(); }
  bool has_gone() const { return !from.has_value() || from->position() == from->size(); }
  bool is_sent() const { return announced && has_gone(); }
  // A reply in one frame needs no memory to land in.
  bool is_answered_by_frame() const { return !to.has_value() || to->size() <= kMostInlined; }
  bool is_answered() const { return !to.has_value() || to->position() == to->size(); }
  bool is_over() const { return is_sent() && is_answered(); }

  const uint32_t slot;  // in the outbox
  const int target;
  RmaFrame message;
  bool announced = false;
  std::optional<OriginData> sent;
  std::optional<LayoutCursor> from;  // behind the data that were sent
  std::vector<std::byte> serial;     // of kLayout: the data
  // Whether the data may be sent from user memory to user memory, without staging; and the data.
  bool may_go_unstaged = false;
  std::optional<UnstagedData> unstaged;

  std::optional<OriginData> received;
  std::optional<LayoutCursor> to;  // behind the data that were received
  // Where replies land: in place, or in a buffer that was reserved before the request went.
  bool lands_in_place = false;
  StridedLayout place;
  size_t posted_in_place = 0;
  StagedBuffer* receive_buffer = nullptr;

  int64_t announced_back = 0;  // bytes of replies

  // A later frame ends its epoch or flushes it. So a request of one frame may wait for others, to
  // be sent with them.
  bool is_followed = false;
  bool fence_follows = false;         // soon, so its last segment may wait, too
  std::atomic<bool>* over = nullptr;  // set when the caller may use all of its memory again

  Outgoing* next = nullptr;  // behind it to the same target
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_OUTGOING_H_
