// The conformance suite over inproc, bare and wrapped.

#include <algorithm>

#include "test/support/run_ranks.h"
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

ConformanceTransport Inproc(const char* name, bool lands_in_peer_memory, const Wrap& wrap) {
  InprocOptions options;
  options.lands_in_peer_memory = lands_in_peer_memory;
  options.sends_in_place = !lands_in_peer_memory;
  return {name, [options, wrap](const std::function<void(ConformanceRank&)>& body) {
            RunRanks(kRanks, options, [&](InprocWorld& world, int rank) {
              const std::unique_ptr<Endpoint> endpoint = wrap(world.CreateEndpoint(rank), rank);
              ConformanceRank self;
              self.rank = rank;
              self.size = kRanks;
              self.endpoint = endpoint.get();
              self.bootstrap = [&](const std::vector<int>& members) {
                const auto me = std::find(members.begin(), members.end(), rank);
                return world.MakeBootstrap(members, static_cast<int>(me - members.begin()));
              };
              self.vanish = [&] { world.MarkLost(rank); };
              body(self);
            });
          }};
}

}  // namespace

std::vector<ConformanceTransport> ConformanceTransports() {
  return {
      Inproc("Inproc", false, Bare),           Inproc("InprocInPeerMemory", true, Bare),
      Inproc("InprocChecked", false, Checked), Inproc("InprocInPeerMemoryChecked", true, Checked),
      Inproc("InprocFaulty", false, Faulty),   Inproc("InprocInPeerMemoryFaulty", true, Faulty)};
}

}  // namespace brigade
