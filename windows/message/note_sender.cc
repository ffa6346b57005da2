#include "windows/message/note_sender.h"

#include <iterator>

namespace brigade {

Status NoteSender::Try(int peer, const NoteMessage& message, Urgency urgency) {
  if (!kept_.empty() && kept_.count(peer) > 0) {
    return Status(StatusCode::kNoResource, "other notes wait for the transport");
  }
  return endpoint_->SendControl(group_, peer, message.span(), urgency);
}

Status NoteSender::Send(int peer, const NoteMessage& message, Urgency urgency) {
  const Status status = Try(peer, message, urgency);
  if (status.code() != StatusCode::kNoResource) return status;
  kept_[peer].push_back(message);
  return Status();
}

Status NoteSender::Advance(bool* any) {
  for (auto of_peer = kept_.begin(); of_peer != kept_.end();) {
    std::deque<NoteMessage>& notes = of_peer->second;
    while (!notes.empty()) {
      const Status status =
          endpoint_->SendControl(group_, of_peer->first, notes.front().span(), Urgency::kCanWait);
      if (status.code() == StatusCode::kNoResource) break;
      BRIGADE_RETURN_IF_ERROR(status);
      notes.pop_front();
      *any = true;
    }
    of_peer = notes.empty() ? kept_.erase(of_peer) : std::next(of_peer);
  }
  return Status();
}

}  // namespace brigade
