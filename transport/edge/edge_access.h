// EdgeAccess: what an endpoint offers whose ranks share memory: messages written and read where
// they lie, without posts. Optional; Endpoint::edges says whether there is one.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_

#include "membuf/byte_span.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"

namespace brigade {

class EdgeAccess {
 public:
  // The edge to or from a peer: the same stream as that of the posts. To be used only while no post
  // of the stream waits, and no longer than the group is open. Null: there is none; or, of EdgeTo,
  // there may be one later.
  virtual OutEdge* EdgeTo(const Channel& channel, int peer) = 0;
  virtual InEdge* EdgeFrom(const Channel& channel, int peer) = 0;
  // The piece that a slot names, until it is given back; no data if it is nowhere.
  virtual ConstByteSpan PieceIn(GroupId group, const Slot& slot) = 0;

 protected:
  ~EdgeAccess() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_ACCESS_H_
