// The conformance suite over auto, bare and wrapped: threads that stand for ranks of two hosts, shm
// within them and inproc between.

#include <algorithm>

#include "gtest/gtest.h"
#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "test/transport/transport_conformance.h"
#include "transport/core/checked_endpoint.h"
#include "transport/core/fault_endpoint.h"
#include "transport/inproc/inproc_transport.h"

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

// `hosts`: of each rank.
ConformanceTransport Auto(const char* name, const std::vector<int>& hosts, const Wrap& wrap) {
  return {name, [hosts, wrap](const std::function<void(ConformanceRank&)>& body) {
            RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
              const std::unique_ptr<Endpoint> endpoint =
                  wrap(AutoEndpointOn(hosts[rank], &world, rank), rank);
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
  return {Auto("Cyclic", {0, 1, 0, 1}, Bare),
          Auto("CyclicChecked", {0, 1, 0, 1}, Checked),
          Auto("CyclicFaulty", {0, 1, 0, 1}, Faulty),
          Auto("OneAlone", {0, 1, 1, 1}, Bare),
          Auto("OneAloneChecked", {0, 1, 1, 1}, Checked),
          Auto("OneAloneFaulty", {0, 1, 1, 1}, Faulty),
          Auto("InARowChecked", {0, 0, 1, 1}, Checked),
          Auto("OneHostChecked", {0, 0, 0, 0}, Checked),
          Auto("AllAloneChecked", {0, 1, 2, 3}, Checked)};
}

}  // namespace brigade
