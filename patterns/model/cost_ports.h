// The ports that messages pass on a machine that is described, those of a host shared by its ranks.

#ifndef BRIGADE_PATTERNS_MODEL_COST_PORTS_H_
#define BRIGADE_PATTERNS_MODEL_COST_PORTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "patterns/model/cost_steps.h"

namespace brigade {

class Ports {
 public:
  // The fill of the buckets of all ports at first.
  enum class Buckets : uint8_t { kFull, kEmpty, kEndless };

  Ports(const Steps& steps, int ranks, Buckets buckets) {
    for (int r = 0; r < ranks; ++r) hosts_.push_back(steps.HostOf(r));
    const int hosts = *std::max_element(hosts_.begin(), hosts_.end()) + 1;
    for (const int link : {0, 1}) {
      of_host_[link] = steps.LinkAt(link).ports_of_host;
      const auto owners = static_cast<size_t>(of_host_[link] ? hosts : ranks);
      const double burst_us = buckets == Buckets::kEndless ? std::numeric_limits<double>::infinity()
                                                           : steps.Burst(link);
      const Port port(burst_us, buckets == Buckets::kEmpty ? 0 : burst_us);
      out_[link] = std::vector<Port>(owners, port);
      in_[link] = std::vector<Port>(owners, port);
    }
  }

  // When a message that may leave at `ready_us` has left both. Messages pass a port in the order of
  // these calls.
  double Pass(int from, int to, double ready_us, double wire_us) {
    const int link = hosts_[static_cast<size_t>(from)] == hosts_[static_cast<size_t>(to)] ? 0 : 1;
    const double out_us = out_[link][OwnerOf(link, from)].Pass(ready_us, wire_us);
    // It is on its way in from when it began to go out.
    const double begun_us = std::max(ready_us, out_us - wire_us);
    return std::max(out_us, in_[link][OwnerOf(link, to)].Pass(begun_us, wire_us));
  }
  // Returns the time of the busiest port of a link for all its messages together.
  double BusiestUs(int link) const {
    double busiest_us = 0;
    for (const std::vector<Port>* ports : {&out_[link], &in_[link]}) {
      for (const Port& port : *ports) busiest_us = std::max(busiest_us, port.wire_us());
    }
    return busiest_us;
  }

 private:
  size_t OwnerOf(int link, int rank) const {
    return static_cast<size_t>(of_host_[link] ? hosts_[static_cast<size_t>(rank)] : rank);
  }

  std::vector<int> hosts_;
  bool of_host_[2];
  std::vector<Port> out_[2];
  std::vector<Port> in_[2];
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_PORTS_H_
