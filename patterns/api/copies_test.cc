// Copies within a rank are counted, whatever the form of the call.

#include "brigade/calls.h"
#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr int kElems = 5;

TEST(Copies, OfTheOnlyRankAreCountedInAllForms) {
  RunRanks(1, {}, [](InprocWorld& world, int rank) {
    brigade_engine engine;
    engine.endpoint = world.CreateEndpoint(rank);
    Require(Engine::Create(engine.endpoint.get(), EngineOptions(), &engine.engine));
    brigade_group group;
    group.engine = &engine;
    Require(
        Group::Create(engine.engine.get(), world.MakeBootstrap(rank).get(), 1, 1, &group.group));
    double own[kElems] = {1, 2, 3, 4, 5};
    double got[kElems] = {};
    const brigade_matrix source = {own, kElems, 1, 0};
    const brigade_matrix result = {got, kElems, 1, 0};
    brigade_statistics did = brigade_statistics_init();
    brigade_call_options options = brigade_call_options_init();
    options.statistics = &did;
    const auto was_counted = [&](const char* call) {
      EXPECT_EQ(did.copies, 1u) << call;
      EXPECT_EQ(did.bytes_copied, sizeof(own)) << call;
      did = brigade_statistics_init();
    };
    brigade_operation* operation = nullptr;
    brigade_plan* plan = nullptr;

    // The source is the result.
    ASSERT_EQ(brigade_allreduce(&group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &options),
              BRIGADE_OK);
    was_counted("allreduce");
    ASSERT_EQ(brigade_allreduce_start(&group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM,
                                      nullptr, &operation),
              BRIGADE_OK);
    ASSERT_EQ(brigade_wait(operation, &did), BRIGADE_OK);
    was_counted("started allreduce");
    ASSERT_EQ(brigade_plan_allreduce(&group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, nullptr,
                                     &plan),
              BRIGADE_OK);
    ASSERT_EQ(brigade_plan_run(plan, &did), BRIGADE_OK);
    brigade_plan_destroy(plan);
    was_counted("planned allreduce");

    // The rank keeps its block.
    ASSERT_EQ(brigade_allgather(&group, &source, &result, BRIGADE_DOUBLE, &options), BRIGADE_OK);
    was_counted("allgather");
    ASSERT_EQ(
        brigade_allgather_start(&group, &source, &result, BRIGADE_DOUBLE, nullptr, &operation),
        BRIGADE_OK);
    ASSERT_EQ(brigade_wait(operation, &did), BRIGADE_OK);
    was_counted("started allgather");
    ASSERT_EQ(brigade_plan_allgather(&group, &source, &result, BRIGADE_DOUBLE, nullptr, &plan),
              BRIGADE_OK);
    ASSERT_EQ(brigade_plan_run(plan, &did), BRIGADE_OK);
    brigade_plan_destroy(plan);
    was_counted("planned allgather");
  });
}

}  // namespace
}  // namespace brigade
