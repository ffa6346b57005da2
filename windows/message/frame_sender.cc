#include "windows/message/frame_sender.h"

#include <iterator>

namespace brigade {
namespace {

Status UnlessLost(const Status& status) {
  return status.code() == StatusCode::kPeerLost ? Status() : status;
}

}  // namespace

Status FrameSender::Try(int peer, const RmaFrame& message, Urgency urgency) {
  if (!kept_.empty() && kept_.count(peer) > 0) {
    return Status(StatusCode::kNoResource, "earlier frames wait for the transport");
  }
  return endpoint_->SendControl(group_, peer, message.span(), urgency);
}

Status FrameSender::Send(int peer, const RmaFrame& message, Urgency urgency) {
  const Status status = Try(peer, message, urgency);
  if (status.code() != StatusCode::kNoResource) return UnlessLost(status);
  kept_[peer].push_back(message);
  return Status();
}

Status FrameSender::Advance(bool* any) {
  for (auto of_peer = kept_.begin(); of_peer != kept_.end();) {
    std::deque<RmaFrame>& frames = of_peer->second;
    while (!frames.empty()) {
      const Status status =
          endpoint_->SendControl(group_, of_peer->first, frames.front().span(), Urgency::kCanWait);
      if (status.code() == StatusCode::kNoResource) break;
      BRIGADE_RETURN_IF_ERROR(UnlessLost(status));
      frames.pop_front();
      *any = true;
    }
    of_peer = frames.empty() ? kept_.erase(of_peer) : std::next(of_peer);
  }
  return Status();
}

}  // namespace brigade
