// The conformance suite over sim, bare and wrapped, on machines that differ in what they have.

#include <stdexcept>

#include "test/transport/conformance_wraps.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

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
              ConformanceRank self = RankIn(&world, rank, kRanks, endpoint.get());
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
