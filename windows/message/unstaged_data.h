// UnstagedData: bytes that go from where they lie to where they belong, past staging memory, in
// segments as long as the transport likes. They are announced ahead, so that their places are
// granted in time.

#ifndef BRIGADE_WINDOWS_MESSAGE_UNSTAGED_DATA_H_
#define BRIGADE_WINDOWS_MESSAGE_UNSTAGED_DATA_H_

#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "transport/channel.h"
#include "transport/endpoint.h"
#include "windows/message/message_context.h"
#include "windows/message/rma_frame.h"
#include "windows/sync/process_lock.h"

namespace brigade {

class UnstagedData {
 public:
  // To group rank `peer`. Segments are whole elements. The bytes must stay until none are left.
  UnstagedData(MessageContext* context, ChannelKind channel, int peer, std::byte* data,
               int64_t bytes, Element element);

  // Whether they would go through staging memory in several segments, and the transport can do
  // better. REQUIRES: they belong to adjacent bytes of the peer.
  bool CanGo() const;
  // Bytes that have not gone.
  int64_t left() const { return bytes_ - gone_; }
  // The first segment is announced by a frame of the caller: how long it is.
  int64_t AnnounceFirst();
  // Announces segments by `frame`, with the length of each, and sends what can go now. Sets *any if
  // some went. Never waits. `combining`: null, or the lock of combines among the bytes; each
  // segment is read while this rank has it, and none goes while another has.
  Status Advance(RmaFrame frame, ProcessLock* combining, bool* any);

 private:
  LayoutRange Range(int64_t at, int64_t bytes) const;
  // How long the segment is that begins there.
  int64_t SegmentAt(int64_t at) const;
  Status Announce(RmaFrame* frame);
  // The next segment, if it can go now.
  Status Send(int64_t bytes, bool* is_sent);

  MessageContext* context_;
  ChannelKind channel_;
  int peer_;
  std::byte* data_;
  int64_t bytes_;
  Element element_;
  StridedLayout layout_;
  int64_t announced_ = 0;
  int64_t gone_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_UNSTAGED_DATA_H_
