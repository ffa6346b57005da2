// SimNetwork: messages between the ranks of a simulation, through the ports and links of its
// machine.
//
// A message that is ready waits until a port of either side is free, occupies both until its last
// byte has left, and arrives after the latency. Messages that wait for a port are served in the
// order in which they became ready; a message whose other port is taken lets the next one pass.

#ifndef BRIGADE_TRANSPORT_SIM_SIM_NETWORK_H_
#define BRIGADE_TRANSPORT_SIM_SIM_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "transport/machines/machine_description.h"
#include "transport/sim/bus_work.h"
#include "transport/sim/event_queue.h"

namespace brigade {

class SimNetwork final : public EventHandler {
 public:
  // Callbacks of each message, with its argument: its last byte has left; it has arrived.
  class Client {
   public:
    virtual void OnLeft(uint64_t argument) = 0;
    virtual void OnArrived(uint64_t argument) = 0;

   protected:
    ~Client() = default;
  };

  struct Message {
    int from = 0;  // ranks
    int to = 0;
    size_t bytes = 0;
    bool joins_next = false;  // the next message pays the cost per message
    int from_memory = 0;
    int to_memory = 0;
    uint64_t argument = 0;
  };

  // All must outlive the network.
  SimNetwork(EventQueue* queue, BusWork* bus_work, const MachineDescription& machine, int ranks,
             Client* client);

  // Sends a message that is ready at `ready`, not before now.
  void Send(const Message& message, SimTime ready);

  void OnEvent(uint64_t argument) override;

 private:
  enum class Event : uint8_t { kReady, kLeft, kArrived };

  struct Port {
    int free = 0;
    // Bytes in its bucket at bucket_time.
    double bucket_bytes = 0;
    SimTime bucket_time = 0;
    // Messages that wait for it, by the order in which they became ready.
    std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>,
                        std::greater<>>
        waiting;
  };
  // The ports of the links within, or between, hosts.
  struct Ports {
    std::vector<Port> send;
    std::vector<Port> receive;  // empty if half duplex
  };
  struct Underway {
    Message message;
    uint64_t number = 0;  // in the order of becoming ready
    Port* out = nullptr;
    Port* in = nullptr;
  };

  static uint64_t Argument(Event event, uint32_t index) {
    return static_cast<uint64_t>(index) << 2 | static_cast<uint64_t>(event);
  }
  Ports MakePorts(const Link& link, int ranks, int hosts) const;
  bool IsWithinHost(const Message& message) const {
    return machine_.HostOf(message.from) == machine_.HostOf(message.to);
  }
  const Link& LinkOf(const Message& message) const {
    return IsWithinHost(message) ? machine_.within_host : machine_.between_hosts;
  }
  // Returns the bytes in the port's bucket now.
  double BucketNow(const Port& port, const Link& link) const;
  void StartOrWait(uint32_t index);
  void Start(uint32_t index);
  void Serve(Port* port);

  EventQueue* const queue_;
  BusWork* const bus_work_;
  const MachineDescription& machine_;
  Client* const client_;
  Ports between_;
  Ports within_;
  std::vector<Underway> underway_;
  std::vector<uint32_t> idle_;  // of underway_
  uint64_t readied_ = 0;
  std::vector<BusWork::Demand> demands_;  // scratch of Start
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_NETWORK_H_
