// Shared by the programs of the conformance suite: how they wrap endpoints, and ranks of a world.

#ifndef BRIGADE_TEST_TRANSPORT_CONFORMANCE_WRAPS_H_
#define BRIGADE_TEST_TRANSPORT_CONFORMANCE_WRAPS_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/transport/transport_conformance.h"

namespace brigade {

using Wrap = std::function<std::unique_ptr<Endpoint>(std::unique_ptr<Endpoint>, int rank)>;

inline std::unique_ptr<Endpoint> Bare(std::unique_ptr<Endpoint> endpoint, int) { return endpoint; }

inline std::unique_ptr<Endpoint> Checked(std::unique_ptr<Endpoint> endpoint, int) {
  return MakeCheckedEndpoint(std::move(endpoint));
}

inline std::unique_ptr<Endpoint> Faulty(std::unique_ptr<Endpoint> endpoint, int rank) {
  FaultOptions faults;
  faults.seed = 1 + rank;
  faults.no_resource = 0.2;
  faults.max_delay = 5;
  return MakeCheckedEndpoint(MakeFaultEndpoint(std::move(endpoint), faults));
}

// A rank of `size` in `world`, an InprocWorld or a SimWorld, which makes the bootstraps.
template <typename World>
ConformanceRank RankIn(World* world, int rank, int size, Endpoint* endpoint) {
  ConformanceRank self;
  self.rank = rank;
  self.size = size;
  self.endpoint = endpoint;
  self.bootstrap = [world, rank](const std::vector<int>& members) {
    const auto me = std::find(members.begin(), members.end(), rank);
    return world->MakeBootstrap(members, static_cast<int>(me - members.begin()));
  };
  return self;
}

}  // namespace brigade

#endif  // BRIGADE_TEST_TRANSPORT_CONFORMANCE_WRAPS_H_
