#include "patterns/protocol/describe_plan.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "test/support/protocol_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

PatternCall Call(Pattern pattern, size_t bytes) {
  PatternCall call;
  call.pattern = pattern;
  call.topology = {Shape::kFree, 0};
  call.type = Element::kInt64;
  call.matrix.layout = StridedLayout::Contiguous(bytes);
  Require(StridedLayout::General(static_cast<int64_t>(bytes / 8), 1,
                                 static_cast<int64_t>(bytes / 8), 8, &call.matrix.layout));
  return call;
}

TEST(DescribePlan, NamesTopologySegmentsProtocolsAndReason) {
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.explain = true;
    std::vector<std::string> reports;
    options.report = [&](const std::string& text) { reports.push_back(text); };
    ProtocolMember me(world, rank, options);
    const std::string one = DescribePlan(me.PlanOf(Call(Pattern::kBroadcast, 24)));
    EXPECT_EQ(one.find("broadcast of up to 24 bytes on 3 ranks: 8-nomial tree. Chosen by rule"), 0u)
        << one;
    EXPECT_NE(
        one.find("\n  one segment\n  protocols, the first one that can run a call:\n"
                 "    inline messages, if each message is one segment, and 4 KiB for all receivers "
                 "together at most, or a block of 16 KiB at most; copies: sender"),
        std::string::npos)
        << one;
    const std::string many = DescribePlan(me.PlanOf(Call(Pattern::kAllReduce, 3 << 20)));
    EXPECT_NE(many.find(" segments of up to "), std::string::npos) << many;
    EXPECT_NE(many.find(" of each block"), std::string::npos) << many;
    EXPECT_EQ(many.find("inline"), std::string::npos) << many;
    const UserOp op{nullptr, nullptr, 8, /*commutative=*/false};
    PatternCall ordered = Call(Pattern::kReduce, 8);
    ordered.topology = {Shape::kDecreasingRings, 1};
    ordered.op = CombineOp::kUser;
    ordered.type = Element::kByte;
    ordered.user_op = &op;
    EXPECT_NE(
        DescribePlan(me.PlanOf(ordered))
            .find(": the operation is not commutative, and decreasing ring does not combine in the "
                  "order of ranks"),
        std::string::npos)
        << DescribePlan(me.PlanOf(ordered));
    // Two trees keep the order, and a tree replaces them for shortness.
    ordered.topology = {Shape::kTwoTree, 0};
    const std::string shorter = DescribePlan(me.PlanOf(ordered));
    EXPECT_EQ(shorter.find("not commutative"), std::string::npos) << shorter;
    EXPECT_NE(shorter.find(". It replaces two trees, which the program has named\n"),
              std::string::npos)
        << shorter;
    ordered.topology = {Shape::kTree, 3};
    EXPECT_NE(DescribePlan(me.PlanOf(ordered))
                  .find(": 3-nomial tree. The program has named this topology\n"),
              std::string::npos)
        << DescribePlan(me.PlanOf(ordered));
    PatternCall send = Call(Pattern::kSend, 8);
    send.root = (rank + 1) % 3;
    EXPECT_EQ(DescribePlan(me.PlanOf(send)).find("send to rank " + std::to_string(send.root)), 0u);
    // Once for each plan, by the first rank.
    const size_t before = reports.size();
    EXPECT_EQ(before, rank == 0 ? 6u : 0u);
    (void)me.PlanOf(Call(Pattern::kBroadcast, 24));
    EXPECT_EQ(reports.size(), before);
  });
}

}  // namespace
}  // namespace brigade
