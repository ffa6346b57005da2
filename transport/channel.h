// Channel: the group and the scope of a message.

#ifndef BRIGADE_TRANSPORT_CHANNEL_H_
#define BRIGADE_TRANSPORT_CHANNEL_H_

#include <cstdint>

namespace brigade {

// Every message of a group belongs to one of four independent channels.
enum class ChannelKind : uint8_t { kPointToPoint, kRow, kColumn, kAll };
inline constexpr int kChannelKinds = 4;

// A group opened on an endpoint; meaningful on this rank only.
using GroupId = int32_t;

struct Channel {
  GroupId group = -1;
  ChannelKind kind = ChannelKind::kPointToPoint;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CHANNEL_H_
