// EventQueue: events in virtual time, in order.
//
// The order is total: by time; at one time events of machines before events of ranks, so that a
// rank sees all that has happened; then by rank; then in the order of scheduling. Runs are
// therefore equal to the bit.

#ifndef BRIGADE_TRANSPORT_SIM_EVENT_QUEUE_H_
#define BRIGADE_TRANSPORT_SIM_EVENT_QUEUE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "membuf/check.h"

namespace brigade {

// Picoseconds: sums of times are exact, and equal times compare equal, for a hundred days.
using SimTime = int64_t;
inline SimTime SimTimeOf(double microseconds) { return std::llround(microseconds * 1e6); }
inline double Microseconds(SimTime time) { return static_cast<double>(time) * 1e-6; }

class EventHandler {
 public:
  virtual void OnEvent(uint64_t argument) = 0;

 protected:
  ~EventHandler() = default;
};

class EventQueue {
 public:
  enum class Phase : uint8_t { kMachine, kRank };

  SimTime now() const { return now_; }

  // Calls handler->OnEvent(argument) at time `at`, which is not before now. `rank`: the rank of the
  // event. `handler` must live until then. Cost: logarithmic in the scheduled events.
  void Schedule(SimTime at, Phase phase, int rank, EventHandler* handler, uint64_t argument) {
    BRIGADE_CHECK_LE(now_, at);
    const uint64_t order = static_cast<uint64_t>(phase) << 63 | static_cast<uint64_t>(rank) << 40 |
                           (scheduled_++ & ((uint64_t{1} << 40) - 1));
    events_.push_back({at, order, handler, argument});
    std::push_heap(events_.begin(), events_.end(), Later());
  }

  // Runs the next event. False if there is none.
  bool RunNext() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end(), Later());
    const Event event = events_.back();
    events_.pop_back();
    now_ = event.at;
    event.handler->OnEvent(event.argument);
    return true;
  }

 private:
  struct Event {
    SimTime at;
    uint64_t order;
    EventHandler* handler;
    uint64_t argument;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  SimTime now_ = 0;
  uint64_t scheduled_ = 0;
  std::vector<Event> events_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_EVENT_QUEUE_H_
