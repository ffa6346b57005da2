// The conformance suite over sim, bare and wrapped, on machines that differ in what they have.

#include <algorithm>
#include <stdexcept>

#include "test/transport/transport_conformance.h"
#include "transport/core/checked_endpoint.h"
#include "transport/core/fault_endpoint.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

using Wrap = std::function<std::unique_ptr<Endpoint>(std::unique_ptr<Endpoint>, int rank)>;

std::unique_ptr<Endpoint> Bare(std::unique_ptr<Endpoint> endpoint, int) { return endpoint; }

std::unique_ptr<Endpoint> Checked(std::unique_ptr<Endpoint> endpoint, int) {
  return MakeCheckedEndpoint(std::move(endpoint));
}

std::unique_ptr<Endpoint> Faulty(std::unique_ptr<Endpoint> endpoint, int rank) {
  FaultOptions faults;
  faults.seed = 1 + rank;
  faults.no_resource = 0.2;
  faults.max_delay = 5;
  return MakeCheckedEndpoint(MakeFaultEndpoint(std::move(endpoint), faults));
}

ConformanceTransport Sim(const char* name, const std::string& machine_name, int ranks_per_host,
                         const Wrap& wrap) {
  return {name, [=](const std::function<void(ConformanceRank&)>& body) {
            MachineDescription machine;
            Status status =
                MachineDescription::Read("transport/machines/" + machine_name + ".json", &machine);
            if (!status.ok()) throw std::runtime_error(status.ToString());
            machine.ranks_per_host = ranks_per_host;
            // The suite keeps more under way than the memories of old.
            for (Memory& memory : machine.memories) memory.bytes_per_rank = SIZE_MAX;
            SimWorld world(machine, kRanks);
            status = world.Run([&](int rank) {
              const std::unique_ptr<Endpoint> endpoint = wrap(world.CreateEndpoint(rank), rank);
              ConformanceRank self;
              self.rank = rank;
              self.size = kRanks;
              self.endpoint = endpoint.get();
              self.bootstrap = [&](const std::vector<int>& members) {
                const auto me = std::find(members.begin(), members.end(), rank);
                return world.MakeBootstrap(members, static_cast<int>(me - members.begin()));
              };
              body(self);
            });
            if (!status.ok()) throw std::runtime_error(status.ToString());
          }};
}

}  // namespace

std::vector<ConformanceTransport> ConformanceTransports() {
  return {Sim("SimAp3000", "ap3000", 1, Bare),
          Sim("SimCluster", "shaped_cluster", 1, Bare),
          Sim("SimTwoHosts", "fat_nodes_100g", 2, Bare),
          Sim("SimOneHost", "fat_nodes_100g", 4, Bare),
          Sim("SimAp3000Checked", "ap3000", 1, Checked),
          Sim("SimTwoHostsChecked", "fat_nodes_100g", 2, Checked),
          Sim("SimClusterFaulty", "shaped_cluster", 1, Faulty)};
}

}  // namespace brigade
