// EdgeAccess: edges of ranks that share memory: messages are written and read in place, without
// posts. Optional; Endpoint::edges returns it if it exists.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_

#include <cstddef>

#include "membuf/byte_span.h"
#include "membuf/strided_layout.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {

class EdgeAccess {
 public:
  // Returns the edge to or from a peer: the stream of the posts. It may be used only while no post
  // of the stream waits, and while the group is open. Null: there is none; EdgeTo may return one
  // later.
  virtual OutEdge* EdgeTo(const Channel& channel, int peer) = 0;
  virtual InEdge* EdgeFrom(const Channel& channel, int peer) = 0;
  // Posts a buffer for the message of the receive that was posted last, as InEdge::PostBuffer. The
  // receive completes with what the sender has written in front of the buffer's bytes, or, if the
  // sender has not used the buffer, with a whole message. Memory of the buffer may be written until
  // then, or until the group is closed. False: nothing is posted, since the message is here,
  // another receive comes first, or no message goes there.
  virtual bool PostBuffer(const Channel& channel, int peer, const StridedLayout& layout,
                          std::byte* base) = 0;
  // Returns the segment that a slot names, valid until it is released; no data if the place is
  // invalid.
  virtual ConstByteSpan SegmentIn(GroupId group, const Slot& slot) = 0;

 protected:
  ~EdgeAccess() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_
