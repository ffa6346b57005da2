// Stream: both directions of one channel of a group with one peer.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_STREAM_H_
#define BRIGADE_TRANSPORT_TCP_LINK_STREAM_H_

#include <cstdint>

#include "transport/channel.h"
#include "transport/tcp/wire/credit_streams.h"

namespace brigade::tcp {

class Link;

// Actions of this rank because the peer may have closed the group; the value only grows.
enum class CloseQuery {
  kNone,
  kAsked,    // sent one query to the peer
  kReported  // logged that the group is closed; messages are dropped
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
