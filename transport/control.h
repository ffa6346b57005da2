// Control messages: short notes from one member of a group to another that need no posted receive.

#ifndef BRIGADE_TRANSPORT_CONTROL_H_
#define BRIGADE_TRANSPORT_CONTROL_H_

#include <cstddef>

#include "membuf/byte_span.h"

namespace brigade {

// The longest there are.
inline constexpr size_t kMostControlBytes = 48;

// May a control message be refused because those before it have not been taken?
enum class Urgency {
  kCanWait,   // kNoResource, now and then
  kWithNext,  // the same, and it may stay here until something else is sent to that member
  kUrgent,    // never
};

// Who is told of the control messages of one group on this rank.
class ControlHandler {
 public:
  // From member `from`. Called inside Progress, like the callback of a completion, and may do the
  // same, but for closing groups. `message` is gone afterwards.
  virtual void OnControl(int from, ConstByteSpan message) = 0;

 protected:
  ~ControlHandler() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CONTROL_H_
