// The conformance suite over inproc, bare and wrapped.

#include <algorithm>

#include "test/run_ranks.h"
#include "test/transport_conformance.h"
#include "transport/inproc_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

ConformanceTransport Inproc(const char* name, const InprocOptions& options) {
  return {name, [options](const std::function<void(ConformanceRank&)>& body) {
            RunRanks(kRanks, options, [&](InprocWorld& world, int rank) {
              std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
              ConformanceRank self;
              self.rank = rank;
              self.size = kRanks;
              self.endpoint = endpoint.get();
              self.bootstrap = [&](const std::vector<int>& members) {
                return world.MakeBootstrap(
                    members, static_cast<int>(std::find(members.begin(), members.end(), rank) -
                                              members.begin()));
              };
              self.vanish = [&] { world.MarkLost(rank); };
              body(self);
            });
          }};
}

}  // namespace

std::vector<ConformanceTransport> ConformanceTransports() {
  InprocOptions copying;
  InprocOptions in_peer_memory;
  in_peer_memory.lands_in_peer_memory = true;
  return {Inproc("InprocCopying", copying), Inproc("InprocInPeerMemory", in_peer_memory)};
}

}  // namespace brigade
