// Stream: both directions of one channel of a group with one peer.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_STREAM_H_
#define BRIGADE_TRANSPORT_TCP_LINK_STREAM_H_

#include <cstdint>

#include "transport/channel.h"
#include "transport/tcp/wire/credit_streams.h"

namespace brigade::tcp {

class Link;

// What this rank did because the peer may have closed the group; it never goes back.
enum class CloseQuery {
  kNone,
  kAsked,    // the peer, once: whether it has
  kReported  // the log says that it has, and what is sent is not received
};

struct Stream {
  Link* link = nullptr;  // null: oneself
  uint32_t wire_id = 0;  // of the group
  GroupId group = -1;
  int peer = 0;
  ChannelKind kind = ChannelKind::kPointToPoint;
  SendStream out;
  ReceiveStream in;
  CloseQuery close_query = CloseQuery::kNone;

  // Which UniqueQueue it stands in: those of its link's Outbox, and that of Grants.
  bool queued_to_send = false;
  bool queued_to_grant = false;
  bool grant_deferred = false;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_STREAM_H_
