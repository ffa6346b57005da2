// Control messages: short messages between members of a group that need no posted receive: active
// messages.

#ifndef BRIGADE_TRANSPORT_CONTROL_H_
#define BRIGADE_TRANSPORT_CONTROL_H_

#include <cstddef>

#include "membuf/byte_span.h"

namespace brigade {

// The longest control message.
inline constexpr size_t kMostControlBytes = 48;

// Whether SendControl may fail or wait because earlier control messages have not been taken.
enum class Urgency {
  kCanWait,   // may return kNoResource
  kWithNext,  // as kCanWait, and may be held until the next message to that member
  kUrgent,    // neither
};

// Receives the control messages of one group on this rank.
class ControlHandler {
 public:
  // Called with a message of member `from`, inside Progress, under the rules of a completion's
  // callback, except that it must not close groups. `message` is invalid afterwards.
  virtual void OnControl(int from, ConstByteSpan message) = 0;

 protected:
  ~ControlHandler() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CONTROL_H_
