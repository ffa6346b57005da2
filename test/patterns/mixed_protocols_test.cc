// Ranks mix protocols: random sequences of calls are compared with an oracle.

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/protocol/protocols.h"
#include "test/patterns/protocol_ranks.h"
#include "test/support/group_member.h"
#include "test/support/random_calls.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

class MixedProtocols : public testing::TestWithParam<std::tuple<Over, int>> {};

TEST_P(MixedProtocols, HaveTheResultsOfTheOracle) {
  const auto [over, ranks] = GetParam();
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const int calls = StressRounds(150, 20000);
  const bool one_host = over != Over::kTcp && over != Over::kTwoHosts;
  EngineOptions options;
  options.chunk_bytes = 8192;
  options.staging_bytes = 512 * 1024;
  std::mutex mutex;
  std::set<std::string> taken;
  RunRanks(ranks, InprocOptions(), [&, over = over, ranks = ranks](InprocWorld& world, int rank) {
    RankOver me(over, world.MakeBootstrap(rank).get(), ranks >= 4 ? 2 : 1, options);
    RandomCalls random(me.group.get(), seed);
    random.Play(calls);
    if (one_host) random.PlayUntilPosted();
    Meet(world, rank);
    const std::lock_guard lock(mutex);
    taken.insert(random.protocols().begin(), random.protocols().end());
  });
  const auto is_taken = [&](const Protocol& protocol) { return taken.count(protocol.name) > 0; };
  EXPECT_TRUE(is_taken(kEagerShared) || is_taken(kEager));
  EXPECT_TRUE(is_taken(kPipelined));
  if (!one_host) return;
  EXPECT_TRUE(is_taken(kInlineMessage));
  EXPECT_TRUE(is_taken(kInlineCollective));
  EXPECT_TRUE(is_taken(kPostedBuffer));
  EXPECT_TRUE(is_taken(kZeroCopyRead));
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Over, int>>& info) {
  constexpr const char* kNames[] = {"shm", "shm_by_kernel", "tcp", "auto", "two_hosts"};
  return kNames[static_cast<int>(std::get<0>(info.param))] + std::string("_") +
         std::to_string(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(Over, MixedProtocols,
                         testing::Combine(testing::Values(Over::kShm, Over::kShmByKernel,
                                                          Over::kTcp, Over::kTwoHosts),
                                          testing::Values(2, 3, 4, 8)),
                         NameOf);

}  // namespace
}  // namespace brigade
