// SlowLinks: a machine for tests of the cost model and of what is chosen by it.

#ifndef BRIGADE_TEST_SUPPORT_SLOW_LINKS_H_
#define BRIGADE_TEST_SUPPORT_SLOW_LINKS_H_

#include "transport/machines/machine_description.h"

namespace brigade {

// Hosts whose links carry 400 Mbit/s; the ranks of one pass messages 300 times as fast.
inline MachineDescription SlowLinks(int ranks_per_host = 1) {
  MachineDescription machine;
  machine.ranks_per_host = ranks_per_host;
  machine.memories.resize(1);
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{1, 20000}};
  machine.adds = machine.copies;
  machine.between_hosts.mb_s = 48;
  machine.between_hosts.latency_us = 36;
  machine.between_hosts.send_overhead.message_us = 12;
  machine.between_hosts.receive_overhead.message_us = 12;
  machine.within_host.mb_s = 16000;
  machine.within_host.latency_us = 1;
  return machine;
}

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_SLOW_LINKS_H_
