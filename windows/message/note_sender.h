// NoteSender: sends the notes of one window. What the transport does not take now is kept, and sent
// later, in order.

#ifndef BRIGADE_WINDOWS_MESSAGE_NOTE_SENDER_H_
#define BRIGADE_WINDOWS_MESSAGE_NOTE_SENDER_H_

#include <deque>
#include <map>

#include "membuf/status.h"
#include "transport/endpoint.h"
#include "windows/message/note.h"

namespace brigade {

class NoteSender {
 public:
  NoteSender(Endpoint* endpoint, GroupId group) : endpoint_(endpoint), group_(group) {}

  // kNoResource: not now, and nothing happened.
  Status Try(int peer, const NoteMessage& message, Urgency urgency);
  // For notes of which there are few: now, or later.
  Status Send(int peer, const NoteMessage& message, Urgency urgency);
  // Sends what was kept, as far as the transport takes it; sets *any if it took some.
  Status Advance(bool* any);
  bool has_kept() const { return !kept_.empty(); }

 private:
  Endpoint* const endpoint_;
  const GroupId group_;
  std::map<int, std::deque<NoteMessage>> kept_;  // by peer, of those who have some
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_NOTE_SENDER_H_
