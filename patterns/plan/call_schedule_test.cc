#include "patterns/plan/call_schedule.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "transport/channel.h"

namespace brigade {
namespace {

constexpr int kRows = 2;
constexpr int kCols = 4;
constexpr int kRank = 5;

ScheduleParameters compiled;

Schedule NoteParameters(const ScheduleParameters& p) {
  compiled = p;
  return Schedule();
}

// Of a rank of a grid.
class CallSchedule : public testing::Test {
 protected:
  void Use(int hosts, bool lands_in_peer_memory) {
    capabilities_.lands_in_peer_memory = lands_in_peer_memory;
    config_.capabilities = &capabilities_;
    hosts_ = hosts;
  }
  Scope ScopeOf(ChannelKind kind) const {
    switch (kind) {
      case ChannelKind::kRow:
        return {kCols, kRank % kCols, kRank / kCols * kCols, 1, std::min(hosts_, kCols), &config_};
      case ChannelKind::kColumn:
        return {kRows, kRank / kCols, kRank % kCols, kCols, 1, &config_};
      default:
        return {kRows * kCols, kRank, 0, 1, hosts_, &config_};
    }
  }
  // Returns the parameters with which the schedule of a call is compiled. Ranks are cyclic to
  // hosts.
  ScheduleParameters ParametersOf(const PatternCall& call) const {
    CatalogueEntry entry = EntryOf(call.pattern);
    entry.compile = NoteParameters;
    CompileSchedule(entry, call, ScopeOf(ChannelOf(call)),
                    [this](int rank) { return rank % hosts_; });
    return compiled;
  }

  Capabilities capabilities_;
  EdgeConfig config_;
  int hosts_ = 1;
};

TEST_F(CallSchedule, RanksAreNumberedInTheScope) {
  Use(1, false);
  PatternCall call;
  call.pattern = Pattern::kReduce;
  call.topology = {Shape::kTree, 3};
  call.scope = ChannelKind::kRow;
  call.root = 2;
  const ScheduleParameters p = ParametersOf(call);
  EXPECT_EQ(p.size, kCols);
  EXPECT_EQ(p.rank, kRank % kCols);
  EXPECT_EQ(p.root, 2);
  EXPECT_EQ(p.topology, call.topology);
  EXPECT_FALSE(p.decreasing);
  EXPECT_FALSE(p.shares_memory);
  EXPECT_FALSE(p.some_share_memory);
  EXPECT_TRUE(p.hosts.empty());
  call.scope = ChannelKind::kColumn;
  EXPECT_EQ(ParametersOf(call).size, kRows);
  EXPECT_EQ(ParametersOf(call).rank, kRank / kCols);
}

TEST_F(CallSchedule, TheDirectionIsThatOfTheCall) {
  Use(1, false);
  PatternCall call;
  call.pattern = Pattern::kMultiReduce;
  call.topology = {Shape::kIncreasingRings, 1};
  EXPECT_FALSE(ParametersOf(call).decreasing);
  call.decreasing = true;
  EXPECT_TRUE(ParametersOf(call).decreasing);
}

TEST_F(CallSchedule, HostsAreListedForTheScopesRanks) {
  Use(3, false);
  PatternCall call;
  call.pattern = Pattern::kReduce;
  EXPECT_TRUE(ParametersOf(call).hosts.empty());
  call.topology.by_host = true;
  EXPECT_EQ(ParametersOf(call).hosts, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1}));
  call.scope = ChannelKind::kRow;  // members 4, 5, 6, 7
  EXPECT_EQ(ParametersOf(call).hosts, (std::vector<int>{1, 2, 0, 1}));
  call.scope = ChannelKind::kColumn;  // said to be on one host
  EXPECT_TRUE(ParametersOf(call).hosts.empty());
}

TEST_F(CallSchedule, SharedMemoryIsThatOfTheScope) {
  PatternCall call;
  call.pattern = Pattern::kBarrier;
  Use(1, true);
  EXPECT_TRUE(ParametersOf(call).shares_memory);
  EXPECT_FALSE(ParametersOf(call).some_share_memory);
  Use(3, true);
  EXPECT_FALSE(ParametersOf(call).shares_memory);
  EXPECT_TRUE(ParametersOf(call).some_share_memory);
  call.scope = ChannelKind::kColumn;
  EXPECT_TRUE(ParametersOf(call).shares_memory);
}

// A schedule that waits for relays goes by host where some ranks share memory, even if the call
// does not request it.
TEST_F(CallSchedule, SchedulesThatWaitForRelaysGoByHostWhereSomeShareMemory) {
  const auto goes_by_host = [&](Pattern pattern, Shape shape) {
    PatternCall call;
    call.pattern = pattern;
    call.topology = {shape, 1};
    return !ParametersOf(call).hosts.empty();
  };
  for (const bool lands_in_peer_memory : {false, true}) {
    Use(3, lands_in_peer_memory);
    EXPECT_EQ(goes_by_host(Pattern::kBroadcast, Shape::kCirculant), lands_in_peer_memory);
    EXPECT_EQ(goes_by_host(Pattern::kMultiBroadcast, Shape::kIncreasingRings),
              lands_in_peer_memory);
    EXPECT_FALSE(goes_by_host(Pattern::kBroadcast, Shape::kIncreasingRings));
    EXPECT_FALSE(goes_by_host(Pattern::kMultiBroadcast, Shape::kCirculant));
    EXPECT_FALSE(goes_by_host(Pattern::kMultiReduce, Shape::kIncreasingRings));
  }
  Use(1, true);
  EXPECT_FALSE(goes_by_host(Pattern::kBroadcast, Shape::kCirculant));
}

}  // namespace
}  // namespace brigade
