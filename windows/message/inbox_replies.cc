// The replies of an inbox: old and current values of the window, and control messages that answer.

#include <algorithm>
#include <cstring>

#include "windows/layout/layout_copy.h"
#include "windows/message/inbox.h"
#include "windows/sync/process_lock.h"

namespace brigade {

Urgency Inbox::UrgencyBehind(const Origin& origin) const {
  if (origin.entries.size() < 2) return Urgency::kCanWait;
  const RmaHeader& next = origin.entries[1].message.header;
  const bool is_answered =
      next.kind == RmaKind::kFlush || (next.kind == RmaKind::kGet && next.bytes <= kMostInlined);
  return is_answered && !IsEarly(next) ? Urgency::kWithNext : Urgency::kCanWait;
}

Status Inbox::SendAnswer(int origin, const RmaFrame& message, Urgency urgency) {
  context_->engine()->ExpectMore();
  return context_->frames()->Send(origin, message, urgency);
}

Status Inbox::Answer(int to, RmaKind kind, uint32_t token) {
  return SendAnswer(to, RmaFrame(kind, token), Urgency::kCanWait);
}

Status Inbox::AnswerInline(int to, uint32_t token, const std::byte* data, int64_t bytes) {
  RmaFrame message(RmaKind::kReply, token);
  message.header.bytes = bytes;
  message.header.inlined = static_cast<uint8_t>(bytes);
  std::memcpy(message.data, data, static_cast<size_t>(bytes));
  return SendAnswer(to, message, UrgencyBehind(OriginOf(to)));
}

// The next request of its origin, such as the end of a lock, is done behind it.
Status Inbox::Reply(int from, Request* request, Step* step) {
  BRIGADE_RETURN_IF_ERROR(request->unstaged.has_value() ? ReplyUnstaged(request, step)
                                                        : ReplyThroughStaging(from, request, step));
  if (*step != Step::kDone) return Status();
  Origin& origin = OriginOf(from);
  origin.is_begun = false;
  EndRequest(from, &origin);
  return Status();
}

Status Inbox::ReplyUnstaged(Request* request, Step* step) {
  const bool is_atomic = request->header.kind == RmaKind::kFetch;
  *step = Step::kMustWait;
  const RmaFrame reply(RmaKind::kReply, request->header.token);
  bool any = false;
  const Status status =
      request->unstaged->Advance(reply, is_atomic ? &window_->page.combining() : nullptr, &any);
  if (!any) return status;
  context_->engine()->ExpectMore();
  *step = request->unstaged->left() > 0 ? Step::kHasMoved : Step::kDone;
  return status;
}

Status Inbox::ReplyThroughStaging(int from, Request* request, Step* step) {
  LayoutCursor& at = *request->at;
  const bool is_atomic = request->header.kind == RmaKind::kFetch;
  const bool is_short = at.size() <= kMostInlined;
  StagingBuffers* const buffers = context_->engine()->buffers();
  *step = Step::kMustWait;
  while (at.position() < at.size()) {
    RmaFrame message(RmaKind::kReply, request->header.token);
    message.header.bytes =
        std::min(at.size() - at.position(), context_->SegmentBytes(request->header.element));
    StagedBuffer* buffer = nullptr;
    if (!is_short) {
      buffer = context_->space()->Take(WindowSpace::Use::kReply, context_->group(), from);
      if (buffer == nullptr) return Status();
    }
    if (is_atomic && !window_->page.combining().TryLock(window_->rank)) {
      if (buffer != nullptr) buffers->Release(buffer);
      return Status();
    }
    std::byte* const base = window_->memory + request->header.offset;
    if (is_short) {
      Gather(&at, base, message.header.bytes, message.data);
    } else {
      context_->mover().Gather(&at, base, message.header.bytes, buffer->memory.data);
    }
    if (is_atomic) window_->page.combining().Unlock();
    if (is_short) message.header.inlined = static_cast<uint8_t>(message.header.bytes);
    const Urgency urgency = is_short ? UrgencyBehind(OriginOf(from)) : Urgency::kWithNext;
    BRIGADE_RETURN_IF_ERROR(SendAnswer(from, message, urgency));
    if (!is_short) {
      BRIGADE_RETURN_IF_ERROR(
          context_->SendSegment(kReplyChannel, from, message.header.bytes, buffer));
    }
  }
  *step = Step::kDone;
  return Status();
}

}  // namespace brigade
