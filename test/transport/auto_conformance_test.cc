// The conformance suite over auto, bare and wrapped: threads that stand for ranks of two hosts, shm
// within them and inproc between.

#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "test/transport/conformance_wraps.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

// `hosts`: of each rank.
ConformanceTransport Auto(const char* name, const std::vector<int>& hosts, const Wrap& wrap) {
  return {name, [hosts, wrap](const std::function<void(ConformanceRank&)>& body) {
            RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
              const std::unique_ptr<Endpoint> endpoint =
                  wrap(AutoEndpointOn(hosts[rank], &world, rank), rank);
              ConformanceRank self = RankIn(&world, rank, kRanks, endpoint.get());
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
