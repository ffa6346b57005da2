// PostPort: a short call's messages as posted sends and receives, over any transport.

#ifndef BRIGADE_PATTERNS_EAGER_POST_PORT_H_
#define BRIGADE_PATTERNS_EAGER_POST_PORT_H_

#include <cstddef>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/eager/port_base.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/rules.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

class PostPort : public PortBase {
 protected:
  using Current = PortBase::Current;
  using PortBase::PortBase;

  bool SeesArrivals() const { return false; }
  bool CutsMessages() const { return false; }
  bool Cuts(const SegmentPlan&) const { return false; }
  bool HasFirstSegment() { return false; }

  void StartReceives() { next_ = 0; }
  // Waits for the message of `step`, an await of the lane. The payload follows its header.
  Status Receive(const Lane& lane, const Step& step, Current* current, ConstByteSpan* message);
  // The data of a message whose header came ahead, in user memory if they can land there.
  Status ReceiveData(Current* current);
  // Takes staging memory for a message that this rank makes and sends from there.
  Status Open(Current* current) { return OpenInStaging(current); }
  // Sends what `copy` would copy straight from user memory; false if it must be copied.
  bool SendInPlace(const Step& copy);
  Status Send(int peer, const Current& current) { return PostSend(peer, current); }
  void Free(Current* current) {
    current->sent = false;
    if (current->buffer != nullptr) Release(&current->buffer);
  }
  // After the group was closed: what has arrived, and nobody took up.
  void DropReceives();

 private:
  // Of a step among the lane's receives. *posted is false, and nothing done, if that takes waiting
  // and is not yet needed.
  Status Post(const Step& step, bool* posted);

  ReceiveSlot receives_[rules::kMostReceivesAhead];
  size_t posted_ = 0;
  size_t awaited_ = 0;
  size_t next_ = 0;  // of the lane's receives
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_EAGER_POST_PORT_H_
