// The conformance suite over shm, bare and wrapped; the ranks are threads that share one mapping,
// so that a sanitizer sees both sides of every exchange.

#include <algorithm>

#include "gtest/gtest.h"
#include "test/support/run_ranks.h"
#include "test/transport/transport_conformance.h"
#include "transport/core/checked_endpoint.h"
#include "transport/core/fault_endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

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

ConformanceTransport Shm(const char* name, const Wrap& wrap) {
  return {name, [wrap](const std::function<void(ConformanceRank&)>& body) {
            // Of this world only the bootstrap is used.
            RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
              std::unique_ptr<Endpoint> endpoint;
              const Status status = CreateShmEndpoint(&endpoint);
              ASSERT_TRUE(status.ok()) << status.ToString();
              endpoint = wrap(std::move(endpoint), rank);
              ConformanceRank self;
              self.rank = rank;
              self.size = kRanks;
              self.endpoint = endpoint.get();
              self.bootstrap = [&](const std::vector<int>& members) {
                const auto me = std::find(members.begin(), members.end(), rank);
                return world.MakeBootstrap(members, static_cast<int>(me - members.begin()));
              };
              body(self);
              // A rank that leaves is lost to those that still talk to it.
              char nothing = 0;
              char all[kRanks];
              (void)world.MakeBootstrap(rank)->AllGather(&nothing, 1, all);
            });
          }};
}

}  // namespace

std::vector<ConformanceTransport> ConformanceTransports() {
  return {Shm("Shm", Bare), Shm("ShmChecked", Checked), Shm("ShmFaulty", Faulty)};
}

}  // namespace brigade
