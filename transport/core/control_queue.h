// ControlQueue: received control messages, until a Progress passes them to their handlers.

#ifndef BRIGADE_TRANSPORT_CORE_CONTROL_QUEUE_H_
#define BRIGADE_TRANSPORT_CORE_CONTROL_QUEUE_H_

#include <cstddef>
#include <unordered_map>

#include "membuf/byte_span.h"
#include "transport/channel.h"
#include "transport/control.h"
#include "transport/core/fifo.h"

namespace brigade {

// The bytes of a control message.
struct ControlMessage {
  ControlMessage() = default;
  // CHECKs the length.
  explicit ControlMessage(ConstByteSpan message);
  ConstByteSpan span() const { return {data, bytes}; }

  alignas(8) std::byte data[kMostControlBytes];
  size_t bytes = 0;
};

class ControlQueue {
 public:
  // Messages of groups without a handler are dropped.
  void SetHandler(GroupId group, ControlHandler* handler) { handlers_[group] = handler; }
  // To be called when the group is closed.
  void RemoveHandler(GroupId group) { handlers_.erase(group); }

  void Push(GroupId group, int from, ConstByteSpan message) {
    arrivals_.push_back({group, from, ControlMessage(message)});
  }
  bool empty() const { return arrivals_.empty(); }
  // Passes all messages to their handlers. Returns whether there was any. Callbacks that become
  // ready meanwhile run afterwards (CompletionQueue).
  bool Deliver() { return !arrivals_.empty() && DeliverAll(); }

 private:
  struct Arrival {
    GroupId group;
    int from;
    ControlMessage message;
  };
  bool DeliverAll();

  std::unordered_map<GroupId, ControlHandler*> handlers_;
  Fifo<Arrival> arrivals_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_CONTROL_QUEUE_H_
