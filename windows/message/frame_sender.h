// FrameSender: sends the frames of one window. If the transport does not take a frame now, keeps it
// and sends it later, in order.

#ifndef BRIGADE_WINDOWS_MESSAGE_FRAME_SENDER_H_
#define BRIGADE_WINDOWS_MESSAGE_FRAME_SENDER_H_

#include <deque>
#include <map>

#include "membuf/status.h"
#include "transport/endpoint.h"
#include "windows/message/rma_frame.h"

namespace brigade {

class FrameSender {
 public:
  FrameSender(Endpoint* endpoint, GroupId group) : endpoint_(endpoint), group_(group) {}

  // kNoResource: not now, and nothing happened.
  Status Try(int peer, const RmaFrame& message, Urgency urgency);
  // Sends a frame now or later. Drops it if the peer is lost, which may have ended in order. For
  // kinds of which there are few, of one frame, and that only their receiver needs: answers,
  // grants, posts, counts of ranks that leave. A rank that needs the lost one finds the loss in its
  // own wait.
  Status Send(int peer, const RmaFrame& message, Urgency urgency);
  // Sends what was kept, as far as the transport takes it; sets *any if it took some.
  Status Advance(bool* any);
  bool has_kept() const { return !kept_.empty(); }

 private:
  Endpoint* const endpoint_;
  const GroupId group_;
  std::map<int, std::deque<RmaFrame>> kept_;  // by peer that has some
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_FRAME_SENDER_H_
