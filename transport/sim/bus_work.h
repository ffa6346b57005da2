// BusWork: activities in virtual time that share buses.
//
// Work demands a part of the capacity of each bus that it uses. If the demands on a bus exceed its
// capacity, all work on that bus slows down in proportion; work on several buses is as fast as the
// most crowded one permits. Speeds change only when work begins or ends.

#ifndef BRIGADE_TRANSPORT_SIM_BUS_WORK_H_
#define BRIGADE_TRANSPORT_SIM_BUS_WORK_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "transport/machines/machine_description.h"
#include "transport/sim/event_queue.h"

namespace brigade {

class BusWork final : public EventHandler {
 public:
  // A part of one bus of one host, in MB/s.
  struct Demand {
    int host;
    int bus;
    double mb_s;
  };

  // `queue` and `machine` must outlive the object.
  BusWork(EventQueue* queue, const MachineDescription& machine, int hosts);

  // Begins work that takes `alone` on idle buses, and calls handler->OnEvent(argument) when it is
  // complete. Cost: logarithmic in the scheduled events; on a crowded bus times the number of its
  // works.
  void Start(SimTime alone, const std::vector<Demand>& demands, int rank, EventHandler* handler,
             uint64_t argument);

  void OnEvent(uint64_t argument) override;

 private:
  struct Work {
    double left = 0;   // picoseconds, at full speed
    double speed = 0;  // of full speed; 0: not begun
    SimTime since = 0;
    uint32_t version = 0;  // of its end, which moves with its speed
    int rank = 0;
    std::vector<Demand> demands;
    EventHandler* handler = nullptr;
    uint64_t argument = 0;
  };
  // In bytes per millisecond: sums are exact.
  struct Bus {
    int64_t capacity = 0;
    int64_t asked = 0;
    std::vector<uint32_t> works;

    double Speed() const {
      return asked <= capacity ? 1 : static_cast<double>(capacity) / static_cast<double>(asked);
    }
  };

  Bus& BusOf(const Demand& demand) {
    return buses_[static_cast<size_t>(demand.host) * static_cast<size_t>(buses_per_host_) +
                  static_cast<size_t>(demand.bus)];
  }
  // Changes the demand on a bus: the speed of all work on it may change.
  void Ask(const Demand& demand, int sign);
  void Adjust(uint32_t index);

  EventQueue* const queue_;
  const int buses_per_host_;
  std::vector<Bus> buses_;
  std::deque<Work> works_;
  std::vector<uint32_t> idle_works_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_BUS_WORK_H_
