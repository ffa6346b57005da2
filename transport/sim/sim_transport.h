// sim: the ranks of a job on a machine that is described, in virtual time. All ranks live on one
// thread; patterns run on it unchanged, and take the time that they would take there.
//
// What takes time: copies and combines that the engine tells of (simulated_processor.h), a
// processor's share of every message, and the way of messages through ports and links, slowed by
// what else goes on on the same buses. All other work of a processor takes none. The same calls in
// the same order take the same times, to the bit.

#ifndef BRIGADE_TRANSPORT_SIM_SIM_TRANSPORT_H_
#define BRIGADE_TRANSPORT_SIM_SIM_TRANSPORT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/machines/machine_description.h"

namespace brigade {

struct SimOptions {
  // False: lengths only, for scale. User memory is never touched, and of every piece only the first
  // 64 bytes travel, so that headers do.
  bool carries_payload = true;
  // Of each rank. What is not touched costs nothing.
  size_t stack_bytes = size_t{256} << 10;
};

// The job: `ranks` ranks on as many hosts as they fill. Must outlive its bootstraps and endpoints.
// Not thread-safe.
class SimWorld {
 public:
  SimWorld(const MachineDescription& machine, int ranks, const SimOptions& options = SimOptions());
  ~SimWorld();

  int ranks() const;
  const MachineDescription& machine() const;

  // Runs body(rank) for every rank at the same virtual time, until all have returned. Calls that
  // may wait, of endpoints and of bootstraps, may be made in bodies only. A later Run goes on where
  // the clocks stand. kInternal, naming a rank, if ranks wait for what will never happen; what
  // their bodies hold is then never destroyed. The first exception of a body is thrown again.
  Status Run(const std::function<void(int rank)>& body);

  // How far the rank's processor has come, in microseconds since the beginning.
  double Clock(int rank) const;

  // As those of InprocWorld. A gather takes no time but that of waiting for its last member.
  std::unique_ptr<Bootstrap> MakeBootstrap(const std::vector<int>& members, int my_rank);
  std::unique_ptr<Bootstrap> MakeBootstrap(int my_rank);

  // Once per rank. Must be destroyed before the world.
  std::unique_ptr<Endpoint> CreateEndpoint(int rank);

 private:
  friend class SimBootstrap;
  friend class SimEndpoint;
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_TRANSPORT_H_
