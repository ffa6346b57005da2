// The conformance suite over inproc, bare and wrapped.

#include "test/support/run_ranks.h"
#include "test/transport/conformance_wraps.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

ConformanceTransport Inproc(const char* name, bool lands_in_peer_memory, const Wrap& wrap) {
  InprocOptions options;
  options.lands_in_peer_memory = lands_in_peer_memory;
  options.sends_in_place = !lands_in_peer_memory;
  return {name, [options, wrap](const std::function<void(ConformanceRank&)>& body) {
            RunRanks(kRanks, options, [&](InprocWorld& world, int rank) {
              const std::unique_ptr<Endpoint> endpoint = wrap(world.CreateEndpoint(rank), rank);
              ConformanceRank self = RankIn(&world, rank, kRanks, endpoint.get());
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
