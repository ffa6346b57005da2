// EdgeStatus: a word that the sender of an edge publishes beside its messages, with a text that
// belongs to it. It takes no slot and has no number; only the last one is there, and a receiver
// that does not look for it is not delayed.

#ifndef BRIGADE_TRANSPORT_EDGE_EDGE_STATUS_H_
#define BRIGADE_TRANSPORT_EDGE_EDGE_STATUS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace brigade {

struct alignas(64) EdgeStatus {
  static constexpr size_t kTextBytes = 120;

  std::atomic<uint64_t> word;  // 0: none yet
  // The sender writes it before the word. REQUIRES, then: the receiver does not read the last one.
  std::byte text[kTextBytes];
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_EDGE_STATUS_H_
