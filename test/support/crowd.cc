#include "test/support/crowd.h"

#include <sched.h>

#include <cstdint>

#include "gtest/gtest.h"
#include "test/support/run_ranks.h"

namespace brigade {

void ExpectCrowdUntilLastGroupCloses(const std::function<std::unique_ptr<Endpoint>()>& create) {
  const int processor = sched_getcpu();  // one on which this process may run
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    const std::unique_ptr<Endpoint> endpoint = create();
    const uint64_t alone = endpoint->polling()->PollsAwake();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    GroupId groups[2];
    for (GroupId& group : groups) {
      ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(rank).get(), &group).ok());
    }
    const uint64_t crowded = endpoint->polling()->PollsAwake();
    EXPECT_LT(crowded, alone);
    endpoint->CloseGroup(groups[0]);
    EXPECT_EQ(endpoint->polling()->PollsAwake(), crowded);
    endpoint->CloseGroup(groups[1]);
    EXPECT_EQ(endpoint->polling()->PollsAwake(), alone);
    char mine = 0, all[2];
    (void)world.MakeBootstrap(rank)->AllGather(&mine, 1, all);  // nobody leaves before the other
  });
}

}  // namespace brigade
