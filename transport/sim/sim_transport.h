// sim: the ranks of a job on a described machine, in virtual time. All ranks run on one thread.
// Patterns run unchanged, and take the time that they would take on that machine.
//
// Time passes for (1) copies and combines that the engine reports (simulated_processor.h), (2) a
// processor's share of every message, (3) the transfer of messages through ports and links, slowed
// by other load on their buses. All other work takes no time. Equal calls in equal order take equal
// times, to the bit.

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
  // False: lengths only, for large simulations. User memory is never touched, and only the first 64
  // bytes of every segment are sent, which include headers.
  bool carries_payload = true;
  // Bytes of each rank's stack. Untouched pages cost nothing.
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

  // Runs body(rank) for every rank, starting at one virtual time, until all have returned. Calls of
  // endpoints and bootstraps that may wait may be made in bodies only. A later Run continues from
  // the current clocks. kInternal, with a rank, if ranks wait for an event that cannot happen;
  // objects of their bodies are never destroyed then. The first exception of a body is rethrown.
  Status Run(const std::function<void(int rank)>& body);

  // Returns the time of the rank's processor, in microseconds since the beginning.
  double Clock(int rank) const;

  // As InprocWorld::MakeBootstrap. A gather takes no time except the wait for its last member.
  std::unique_ptr<Bootstrap> MakeBootstrap(const std::vector<int>& members, int my_rank);
  std::unique_ptr<Bootstrap> MakeBootstrap(int my_rank);

  // Once per rank. Must be destroyed before the world.
  std::unique_ptr<Endpoint> CreateEndpoint(int rank);

 private:
  friend class SimEndpoint;
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_TRANSPORT_H_
