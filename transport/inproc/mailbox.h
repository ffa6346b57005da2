// Mailbox: what other threads send to a rank: parcels, which are posted sends, and control
// messages.

#ifndef BRIGADE_TRANSPORT_INPROC_MAILBOX_H_
#define BRIGADE_TRANSPORT_INPROC_MAILBOX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/core/control_queue.h"

namespace brigade::inproc {

// One posted send. Goes to the receiver's mailbox, and back to the sender's when its bytes are no
// longer needed.
struct Parcel {
  // The side that moves the parcel on from kPosted owns it: the receiver to read the bytes, or the
  // sender to give up on a lost receiver. A receiver that only peeks resets it to kPosted.
  enum class State { kPosted, kLookedAt, kTaken, kWithdrawn };

  uint64_t wire_id = 0;
  ChannelKind kind = ChannelKind::kPointToPoint;
  int from = 0;  // world ranks
  int to = 0;
  ConstByteSpan segment;
  std::vector<std::byte> kept;       // a copy of the segment, if it was copied
  Completion* completion = nullptr;  // the sender's; only the sender touches it
  std::atomic<State> state{State::kPosted};

  bool MoveOn(State next) {
    State posted = State::kPosted;
    return state.compare_exchange_strong(posted, next, std::memory_order_acq_rel);
  }
};
using ParcelPtr = std::shared_ptr<Parcel>;

// A control message on its way.
struct ControlArrival {
  uint64_t wire_id = 0;
  int from = 0;  // in the group
  ControlMessage message;
};

// Parcels from other threads to a rank. The bytes of a parcel are read outside the lock; the lock
// only orders them after the sender's writes.
class Mailbox {
 public:
  void PutArrival(ParcelPtr parcel) { Put(&arrivals_, std::move(parcel)); }
  void PutReturned(ParcelPtr parcel) { Put(&returned_, std::move(parcel)); }
  // False, and nothing done, if there are `most` already.
  bool PutControl(const ControlArrival& control, size_t most) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (controls_.size() >= most) return false;
    controls_.push_back(control);
    full_.store(true, std::memory_order_release);
    return true;
  }

  // Takes everything; the vectors must be empty. False if there was nothing.
  bool Take(std::vector<ParcelPtr>* arrivals, std::vector<ParcelPtr>* returned,
            std::vector<ControlArrival>* controls) {
    if (!full_.load(std::memory_order_acquire)) return false;
    std::lock_guard<std::mutex> lock(mutex_);
    full_.store(false, std::memory_order_relaxed);
    arrivals->swap(arrivals_);
    returned->swap(returned_);
    controls->swap(controls_);
    return true;
  }

 private:
  void Put(std::vector<ParcelPtr>* queue, ParcelPtr parcel) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue->push_back(std::move(parcel));
    full_.store(true, std::memory_order_release);
  }

  std::mutex mutex_;
  std::vector<ParcelPtr> arrivals_;
  std::vector<ParcelPtr> returned_;
  std::vector<ControlArrival> controls_;
  std::atomic<bool> full_{false};  // so that an idle poll takes no lock
};

}  // namespace brigade::inproc

#endif  // BRIGADE_TRANSPORT_INPROC_MAILBOX_H_
