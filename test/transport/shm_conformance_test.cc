// The conformance suite over shm, bare and wrapped; the ranks are threads that share one mapping,
// so that a sanitizer sees both sides of every exchange.

#include "gtest/gtest.h"
#include "test/support/run_ranks.h"
#include "test/transport/conformance_wraps.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

ConformanceTransport Shm(const char* name, const Wrap& wrap) {
  return {name, [wrap](const std::function<void(ConformanceRank&)>& body) {
            // Of this world only the bootstrap is used.
            RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
              std::unique_ptr<Endpoint> endpoint;
              const Status status = CreateShmEndpoint(&endpoint);
              ASSERT_TRUE(status.ok()) << status.ToString();
              endpoint = wrap(std::move(endpoint), rank);
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
  return {Shm("Shm", Bare), Shm("ShmChecked", Checked), Shm("ShmFaulty", Faulty)};
}

}  // namespace brigade
