#include "windows/message/unstaged_data.h"

#include <algorithm>
#include <cstring>

#include "membuf/byte_span.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/staged_buffer.h"
#include "transport/capabilities.h"

namespace brigade {
namespace {

// Segments that are announced before one of them has gone.
constexpr int64_t kMostAhead = 8;

}  // namespace

UnstagedData::UnstagedData(MessageContext* context, ChannelKind channel, int peer, std::byte* data,
                           int64_t bytes, Element element)
    : context_(context),
      channel_(channel),
      peer_(peer),
      data_(data),
      bytes_(bytes),
      element_(element),
      layout_(StridedLayout::Contiguous(static_cast<size_t>(bytes))) {}

LayoutRange UnstagedData::Range(int64_t at, int64_t bytes) const {
  return {&layout_, data_, static_cast<size_t>(at), static_cast<size_t>(bytes)};
}

bool UnstagedData::CanGo() const {
  if (bytes_ <= context_->SegmentBytes(element_)) return false;
  const Endpoint& endpoint = *context_->endpoint();
  const Channel channel = context_->channel(channel_);
  const LayoutRange first = Range(0, SegmentAt(0));
  // The peer's end of the transport is like this one.
  return endpoint.SendsInPlace(channel, peer_, first) &&
         endpoint.LandsInPlace(channel, peer_, first);
}

int64_t UnstagedData::SegmentAt(int64_t at) const {
  const Capabilities& has = context_->endpoint()->CapabilitiesTo(context_->group()->id, peer_);
  // The first fills the time until there is a place for the next.
  const Tuning& tuning = has.tuning;
  const bool fills = at == 0 && static_cast<size_t>(bytes_) > has.eager_segment_bytes &&
                     tuning.first_segment_bytes > 0;
  const size_t most = fills ? tuning.first_segment_bytes : tuning.preferred_segment_bytes;
  return std::min(bytes_ - at, MessageContext::WholeElements(static_cast<int64_t>(most), element_));
}

int64_t UnstagedData::AnnounceFirst() {
  announced_ = SegmentAt(0);
  return announced_;
}

Status UnstagedData::Announce(RmaFrame* frame) {
  const Capabilities& has = context_->endpoint()->CapabilitiesTo(context_->group()->id, peer_);
  const int64_t most = kMostAhead * static_cast<int64_t>(has.tuning.preferred_segment_bytes);
  const int64_t end = std::min(bytes_, gone_ + most);
  // Several together.
  if (announced_ > gone_ + most / 2) return Status();
  while (announced_ < end) {
    frame->header.bytes = SegmentAt(announced_);
    const int64_t next = announced_ + frame->header.bytes;
    const Status status =
        context_->frames()->Try(peer_, *frame, next < end ? Urgency::kWithNext : Urgency::kCanWait);
    if (status.code() == StatusCode::kNoResource) return Status();
    BRIGADE_RETURN_IF_ERROR(status);
    announced_ = next;
  }
  return Status();
}

Status UnstagedData::Send(int64_t bytes, bool* is_sent) {
  OperationStatistics uncounted;
  const SentNow sent = context_->engine()->sends()->SendNow(
      context_->group(), channel_, peer_, ConstByteSpan(), Range(gone_, bytes), &uncounted);
  *is_sent = sent == SentNow::kYes;
  // Copies in flight leave first, or the loss of a rank is found.
  if (sent != SentNow::kNo || context_->group()->sends_in_flight > 0) return Status();
  StagedBuffer* const buffer =
      context_->engine()->buffers()->TryOverflow(static_cast<size_t>(bytes), &uncounted);
  if (buffer == nullptr) return Status();
  std::memcpy(buffer->memory.data, data_ + gone_, static_cast<size_t>(bytes));
  *is_sent = true;
  return context_->SendSegment(channel_, peer_, bytes, buffer);
}

Status UnstagedData::Advance(RmaFrame frame, ProcessLock* combining, bool* any) {
  while (left() > 0) {
    BRIGADE_RETURN_IF_ERROR(Announce(&frame));
    if (announced_ == gone_) return Status();
    const int64_t bytes = SegmentAt(gone_);
    if (combining != nullptr && !combining->TryLock(context_->group()->rank)) return Status();
    bool is_sent = false;
    const Status status = Send(bytes, &is_sent);
    if (combining != nullptr) combining->Unlock();
    BRIGADE_RETURN_IF_ERROR(status);
    if (!is_sent) return Status();
    gone_ += bytes;
    *any = true;
  }
  return Status();
}

}  // namespace brigade
