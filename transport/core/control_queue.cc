#include "transport/core/control_queue.h"

#include <cstring>

#include "membuf/check.h"
#include "transport/core/completion_queue.h"

namespace brigade {

ControlMessage::ControlMessage(ConstByteSpan message) : bytes(message.bytes) {
  BRIGADE_CHECK_LE(bytes, kMostControlBytes);
  if (bytes > 0) std::memcpy(data, message.data, bytes);
}

bool ControlQueue::DeliverAll() {
  const CompletionQueue::InCallback in_callback;
  while (!arrivals_.empty()) {
    const Arrival arrival = arrivals_.front();
    arrivals_.pop_front();
    const auto handler = handlers_.find(arrival.group);
    if (handler == handlers_.end()) continue;
    handler->second->OnControl(arrival.from, arrival.message.span());
  }
  return true;
}

}  // namespace brigade
