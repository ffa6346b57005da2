#include "patterns/plan/schedule_cache.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/channel.h"

namespace brigade {
namespace {

constexpr int kRows = 2;
constexpr int kCols = 4;
constexpr int kRank = 5;

std::vector<ScheduleParameters> compiled;  // in this order

Schedule NoteAndCompile(const ScheduleParameters& p) {
  compiled.push_back(p);
  return Schedule();
}

// A rank of a grid, and its cache.
class ScheduleCacheTest : public testing::Test {
 protected:
  ScheduleCacheTest() { compiled.clear(); }

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
  // Ranks are cyclic to hosts.
  HostOfRank HostOf() const {
    return [this](int rank) { return rank % hosts_; };
  }
  const Schedule* Find(const PatternCall& call) {
    return cache_.Find(EntryOf(call.pattern), call, ScopeOf(ChannelOf(call)), HostOf());
  }
  // Returns the parameters with which the cache compiles a call that it has not seen.
  ScheduleParameters ParametersOf(const PatternCall& call) {
    CatalogueEntry entry = EntryOf(call.pattern);
    entry.compile = NoteAndCompile;
    const size_t before = compiled.size();
    ScheduleCache().Find(entry, call, ScopeOf(ChannelOf(call)), HostOf());
    EXPECT_EQ(compiled.size(), before + 1);
    return compiled.back();
  }

  Capabilities capabilities_;
  EdgeConfig config_;
  int hosts_ = 1;
  ScheduleCache cache_;
};

// Calls that differ in what schedules depend on.
std::vector<PatternCall> DifferentCalls() {
  std::vector<PatternCall> calls;
  for (const CatalogueEntry& entry : Catalogue()) {
    PatternCall call;
    call.pattern = entry.pattern;
    std::vector<Topology> topologies = entry.topologies;
    if (topologies.empty()) topologies.emplace_back();
    for (const Topology& topology : topologies) {
      for (const bool by_host : {false, true}) {
        if (by_host && (topology.shape == Shape::kTwoTree || entry.topologies.empty())) continue;
        call.topology = topology;
        call.topology.by_host = by_host;
        for (int root = 0; root < (entry.rooted ? kRows : 1); ++root) {
          call.root = root;
          for (const bool decreasing : {false, true}) {
            if (decreasing && !entry.multi) continue;
            call.decreasing = decreasing;
            for (const ChannelKind scope :
                 {ChannelKind::kAll, ChannelKind::kRow, ChannelKind::kColumn}) {
              if (IsPair(entry.pattern) && scope != ChannelKind::kAll) continue;
              call.scope = scope;
              calls.push_back(call);
            }
          }
        }
      }
    }
  }
  return calls;
}

TEST_F(ScheduleCacheTest, CallsThatDifferHaveTheirOwnSchedules) {
  for (const int hosts : {1, 3}) {
    for (const bool lands_in_peer_memory : {false, true}) {
      Use(hosts, lands_in_peer_memory);
      cache_ = ScheduleCache();
      const std::vector<PatternCall> calls = DifferentCalls();
      std::vector<const Schedule*> first;
      for (const PatternCall& call : calls) first.push_back(Find(call));
      // They live as long as the cache, and are found again.
      for (size_t i = 0; i < calls.size(); ++i) {
        const ScheduleParameters p = ParametersOf(calls[i]);
        const std::string expected = EntryOf(calls[i].pattern).compile(p).ToString();
        EXPECT_EQ(first[i]->ToString(), expected) << i;
        EXPECT_EQ(Find(calls[i]), first[i]) << i;
      }
    }
  }
}

TEST_F(ScheduleCacheTest, EachIsCompiledOnce) {
  Use(1, false);
  CatalogueEntry entry = EntryOf(Pattern::kBroadcast);
  entry.compile = NoteAndCompile;
  PatternCall one;
  one.pattern = Pattern::kBroadcast;
  PatternCall other = one;
  other.root = 1;
  for (int i = 0; i < 3; ++i) {
    for (const PatternCall& call : {one, one, other}) {
      cache_.Find(entry, call, ScopeOf(call.scope), HostOf());
    }
  }
  EXPECT_EQ(compiled.size(), 2u);
}

TEST_F(ScheduleCacheTest, DataAndOperationDoNotChangeTheSchedule) {
  Use(1, false);
  PatternCall call;
  call.pattern = Pattern::kMultiReduce;
  call.topology = {Shape::kIncreasingRings, 1};
  const Schedule* const schedule = Find(call);
  const Matrix blocks[1];
  call.blocks = blocks;
  call.matrix.layout = StridedLayout::Contiguous(800);
  call.segment_bytes = 80;
  call.op = CombineOp::kAbsMax;
  call.type = Element::kFloat;
  EXPECT_EQ(Find(call), schedule);
}

TEST_F(ScheduleCacheTest, RanksAreNumberedInTheScope) {
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

TEST_F(ScheduleCacheTest, TheDirectionIsThatOfTheCall) {
  Use(1, false);
  PatternCall call;
  call.pattern = Pattern::kMultiReduce;
  call.topology = {Shape::kIncreasingRings, 1};
  EXPECT_FALSE(ParametersOf(call).decreasing);
  call.decreasing = true;
  EXPECT_TRUE(ParametersOf(call).decreasing);
}

TEST_F(ScheduleCacheTest, HostsAreListedForTheScopesRanks) {
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

TEST_F(ScheduleCacheTest, SharedMemoryIsThatOfTheScope) {
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
TEST_F(ScheduleCacheTest, SchedulesThatWaitForRelaysGoByHostWhereSomeShareMemory) {
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
