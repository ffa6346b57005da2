#include "patterns/plan/call_topology.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/model/free_topology.h"
#include "patterns/rules.h"
#include "test/support/slow_links.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = size_t{32} << 10;
constexpr size_t kLong = size_t{4} << 20;
constexpr Topology kFree{Shape::kFree, 0};
constexpr Topology kSplitRing{Shape::kSplitRing, 0};  // slow for long messages

// Eight ranks, of which this is one, in two rows.
struct Member {
  explicit Member(int rank, int ranks_per_host = 1, bool measured = true) {
    const auto machine = std::make_shared<MachineDescription>(SlowLinks(ranks_per_host));
    state.rows = 2;
    state.cols = 4;
    state.rank = rank;
    if (measured) state.machine = machine;
    for (int r = 0; r < 8; ++r) state.host_of.push_back(r / ranks_per_host);
    has.lands_in_peer_memory = ranks_per_host > 1;
    config.capabilities = &has;
    config.settings = SettingsOn(*machine, machine->between_hosts, kChunkBytes, 64 * kChunkBytes);
    const int hosts = 8 / ranks_per_host;
    for (Scope& scope : state.scopes) scope = {8, rank, 0, 1, hosts, &config};
    Scope& row = state.scopes[static_cast<int>(ChannelKind::kRow)];
    row = {4, rank % 4, rank / 4 * 4, 1, ranks_per_host > 4 ? 1 : 4 / ranks_per_host, &config};
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  PatternCall Chosen(PatternCall call) {
    call.topology_is_hint = true;
    const Scope& scope = state.scope(call.scope);
    const ByteCounts greatest = Signature::Of(call, scope).Greatest(config.settings);
    reason.clear();
    const ModelChoice choice = ChooseTopology(options, state, call, greatest, &reason);
    call.topology = choice.topology;
    const size_t longest = ByteCounts::Of(EntryOf(call.pattern), call, scope.size).longest;
    if (call.segment_bytes == 0) call.segment_bytes = choice.SegmentBytes(longest);
    return call;
  }

  Capabilities has;
  EdgeConfig config;
  GroupState state;
  EngineOptions options;
  std::string reason;
};

PatternCall Call(Pattern pattern, size_t bytes, const Topology& topology = kFree) {
  PatternCall call;
  call.pattern = pattern;
  call.topology = topology;
  call.matrix.layout = StridedLayout::Contiguous(bytes);
  return call;
}

// Blocks of so many bytes each, and one that is longer.
struct Blocks {
  Blocks(Pattern pattern, size_t bytes, size_t longest) : call(Call(pattern, 0)) {
    for (Matrix& block : blocks) block.layout = StridedLayout::Contiguous(bytes);
    blocks[5].layout = StridedLayout::Contiguous(longest);
    call.blocks = call.sent = blocks;
  }
  Matrix blocks[8];
  PatternCall call;
};

Topology ByRule(const Member& member, Pattern pattern, size_t bytes, bool order_free) {
  const Scope& scope = member.state.scope(ChannelKind::kAll);
  const Ranks ranks{scope.size, scope.hosts, &member.has, member.state.crowded};
  return FreeTopology(pattern, ranks, bytes, order_free);
}

TEST(CallTopology, ATopologyThatIsNamedStays) {
  Member member(0);
  const PatternCall call = member.Chosen(Call(Pattern::kBroadcast, kLong, kSplitRing));
  EXPECT_EQ(call.topology, kSplitRing);
  EXPECT_EQ(call.segment_bytes, 0u);
}

TEST(CallTopology, ATopologyThatIsNamedIsExplainedWithItsCost) {
  const PatternCall call = Call(Pattern::kBroadcast, kLong, kSplitRing);
  const std::string text = ExplainNamed(Member(0).state, call, kSplitRing, kLong);
  EXPECT_EQ(text.find("split ring in "), 0u) << text;
  EXPECT_NE(text.find(" us. The program has named this topology"), std::string::npos) << text;
  const Member unmeasured(0, /*ranks_per_host=*/1, /*measured=*/false);
  EXPECT_EQ(ExplainNamed(unmeasured.state, call, {Shape::kTree, 2}, kLong),
            "binomial tree. It replaces split ring, which the program has named");
}

TEST(CallTopology, APatternWithoutTopologiesHasNoChoice) {
  Member member(0);
  member.options.explain = member.options.topology_is_hint = true;
  for (const Pattern pattern : {Pattern::kSend, Pattern::kReceive, Pattern::kBarrier}) {
    EXPECT_EQ(member.Chosen(Call(pattern, kLong)).topology, kFree);
  }
  EXPECT_EQ(member.reason, "");
}

TEST(CallTopology, TheRuleChoosesWithoutMeasurements) {
  for (const bool crowded : {false, true}) {
    Member member(0, /*ranks_per_host=*/8, /*measured=*/false);
    member.state.crowded = crowded;
    for (const size_t bytes : {size_t{8}, rules::kWideSumBytes + 8, kLong}) {
      for (const bool order_free : {false, true}) {
        PatternCall sum = Call(Pattern::kAllReduce, bytes);
        sum.type = order_free ? Element::kInt64 : Element::kDouble;
        const PatternCall chosen = member.Chosen(sum);
        EXPECT_EQ(chosen.topology, ByRule(member, sum.pattern, bytes, order_free)) << bytes;
        EXPECT_EQ(chosen.segment_bytes, 0u);
      }
    }
  }
}

// Of blocks all together count for the rule.
TEST(CallTopology, TheRuleLooksAtAllBlocks) {
  Member member(0, 1, /*measured=*/false);
  const size_t bytes = rules::kRingBytes / 10;
  for (const size_t longest : {bytes, 4 * bytes}) {
    const Blocks multi(Pattern::kMultiBroadcast, bytes, longest);
    const Topology expected = ByRule(member, multi.call.pattern, 7 * bytes + longest, true);
    EXPECT_EQ(expected.shape, longest == bytes ? Shape::kCirculant : Shape::kIncreasingRings);
    EXPECT_EQ(member.Chosen(multi.call).topology, expected);
  }
}

TEST(CallTopology, TheModelChoosesTopologyAndSegments) {
  Member member(0);
  const PatternCall call = Call(Pattern::kBroadcast, kLong);
  const PatternCall chosen = member.Chosen(call);
  EXPECT_EQ(TopologyName(chosen.topology), "increasing ring");
  // As fast as any candidate that the model knows.
  double least = 1e300;
  for (const Candidate& candidate : CandidatesOf(member.state, call, 0)) {
    if (candidate.cost.in_step) least = std::min(least, candidate.cost.us);
  }
  EXPECT_LE(PredictCall(member.state, chosen).us, rules::kAboutAsFast * least);
  // A segment length that the caller sets is kept.
  PatternCall cut = call;
  cut.segment_bytes = 10000;
  EXPECT_EQ(member.Chosen(cut).segment_bytes, 10000u);
  EXPECT_EQ(member.Chosen(cut).topology, chosen.topology);
}

TEST(CallTopology, OnlySegmentsAreChosenForAnOrderedSum) {
  Member member(0);
  PatternCall sum = Call(Pattern::kAllReduce, kLong);
  const PatternCall chosen = member.Chosen(sum);
  EXPECT_EQ(chosen.topology, ByRule(member, sum.pattern, kLong, /*order_free=*/false));
  EXPECT_GT(PredictCall(member.state, chosen).segments, 1);
  sum.matrix.layout = StridedLayout::Contiguous(64);
  EXPECT_EQ(member.Chosen(sum).topology, ByRule(member, sum.pattern, 64, false));
}

TEST(CallTopology, TheModelIsUnusedIfAllRanksShareMemory) {
  Member member(0, /*ranks_per_host=*/8);
  const PatternCall chosen = member.Chosen(Call(Pattern::kBroadcast, kLong));
  EXPECT_EQ(chosen.topology, ByRule(member, Pattern::kBroadcast, kLong, true));
  EXPECT_EQ(member.reason, "");
}

// Where messages cost more than their latency, and nowhere else: eight ranks send each other seven
// messages, or three in a row with twelve blocks.
TEST(CallTopology, ShortEqualBlocksGoAlongACirculantGraph) {
  const Topology ring{Shape::kIncreasingRings, 1};
  const Topology circulant{Shape::kCirculant, 0};
  const auto chosen = [](double latency_us, size_t bytes, int ranks_per_host = 1) {
    Member member(0, ranks_per_host);
    MachineDescription machine = SlowLinks(ranks_per_host);
    machine.between_hosts.latency_us = latency_us;
    member.state.machine = std::make_shared<MachineDescription>(machine);
    Blocks blocks(Pattern::kAllToAll, bytes, bytes);
    blocks.call.equal_blocks = true;
    return member.Chosen(blocks.call).topology;
  };
  EXPECT_EQ(chosen(4, 8), circulant);
  EXPECT_EQ(chosen(4, 8, /*ranks_per_host=*/2), circulant);
  EXPECT_EQ(chosen(30, 8), ring) << "which is slower by less than 5 %";
  EXPECT_EQ(chosen(100, 8), ring);
  EXPECT_EQ(chosen(4, 4096), ring);
  EXPECT_EQ(chosen(4, 8, /*ranks_per_host=*/8), ring) << "where ranks share memory";
}

// Nothing that members agree on depends on lengths that they do not know.
TEST(CallTopology, BlocksOfAnyLengthsArePairwise) {
  Member member(0);
  member.options.topology_is_hint = true;
  for (const size_t bytes : {size_t{8}, kLong}) {
    Blocks blocks(Pattern::kAllToAll, bytes, bytes);
    PatternCall& call = blocks.call;
    EXPECT_EQ(member.Chosen(call).topology, (Topology{Shape::kIncreasingRings, 1}));
    EXPECT_EQ(member.Chosen(call).segment_bytes, 0u);
    EXPECT_NE(member.reason.find("blocks may have any lengths"), std::string::npos);
    for (const Candidate& candidate : CandidatesOf(member.state, call, 0)) {
      EXPECT_EQ(candidate.topology.shape, Shape::kIncreasingRings);
    }
    call.topology = {Shape::kCirculant, 0};  // an error elsewhere
    EXPECT_EQ(member.Chosen(call).topology, call.topology);
    EXPECT_EQ(member.reason, "");
  }
}

TEST(CallTopology, AllMembersChooseAlike) {
  for (const int ranks_per_host : {1, 2}) {
    for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
      for (const size_t bytes : {size_t{1}, size_t{5000}, size_t{100000}, kLong}) {
        Member first(0, ranks_per_host);
        Member last(7, ranks_per_host);
        const PatternCall one = first.Chosen(Call(pattern, bytes));
        const PatternCall other = last.Chosen(Call(pattern, bytes));
        EXPECT_EQ(one.topology, other.topology);
        EXPECT_EQ(one.segment_bytes, other.segment_bytes);
        EXPECT_NE(one.topology.shape, Shape::kFree);
      }
    }
  }
}

TEST(CallTopology, AMuchFasterTopologyReplacesAHint) {
  Member member(0);
  member.options.topology_is_hint = true;
  EXPECT_EQ(TopologyName(member.Chosen(Call(Pattern::kBroadcast, kLong, kSplitRing)).topology),
            "increasing ring");
  // Not for little,
  EXPECT_EQ(member.Chosen(Call(Pattern::kBroadcast, 16 << 10, kSplitRing)).topology, kSplitRing);
  // nor where it is part of the result,
  const Topology tree{Shape::kTree, 2};
  EXPECT_EQ(member.Chosen(Call(Pattern::kReduce, kLong, tree)).topology, tree);
  PatternCall integers = Call(Pattern::kReduce, kLong, tree);
  integers.type = Element::kInt64;
  EXPECT_FALSE(member.Chosen(integers).topology == tree);
  // nor one that the pattern does not know, which is an error elsewhere.
  const Topology reduce_scatter{Shape::kReduceScatterAllgather, 0};
  EXPECT_EQ(member.Chosen(Call(Pattern::kBroadcast, kLong, reduce_scatter)).topology,
            reduce_scatter);

  Member unmeasured(0, 1, /*measured=*/false);
  unmeasured.options.topology_is_hint = true;
  EXPECT_EQ(unmeasured.Chosen(Call(Pattern::kBroadcast, kLong, kSplitRing)).topology, kSplitRing);
}

// The model does not choose better there.
TEST(CallTopology, WhereRanksShareMemoryTheRuleDecidesBesideAModel) {
  Member member(0, /*ranks_per_host=*/8);
  MachineDescription machine = SlowLinks(8);
  machine.shared_memory.is_shared = true;
  member.state.machine = std::make_shared<MachineDescription>(machine);
  member.options.explain = true;
  const PatternCall call = member.Chosen(Call(Pattern::kBroadcast, kLong));
  EXPECT_TRUE(call.topology == ByRule(member, Pattern::kBroadcast, kLong, /*order_free=*/true));
  EXPECT_EQ(call.segment_bytes, 0u);
  EXPECT_NE(member.reason.find(" us. Chosen by the rule for ranks that share memory."),
            std::string::npos);
  EXPECT_NE(member.reason.find(" The model would choose "), std::string::npos);
}

TEST(CallTopology, CandidatesHaveThePredictedCost) {
  Member member(0, /*ranks_per_host=*/2);
  for (const CatalogueEntry& entry : Catalogue()) {
    const Blocks multi(entry.pattern, 5000, 20000);
    PatternCall call = entry.multi ? multi.call : Call(entry.pattern, 20000);
    if (IsPair(entry.pattern)) call.root = 7;
    const std::vector<Candidate> candidates = CandidatesOf(member.state, call, 0);
    EXPECT_FALSE(candidates.empty()) << entry.name;
    for (const Candidate& candidate : candidates) {
      call.topology = candidate.topology;
      call.segment_bytes = candidate.segment_bytes;
      EXPECT_EQ(PredictCall(member.state, call).us, candidate.cost.us)
          << entry.name << " " << TopologyName(candidate.topology);
    }
  }
}

// All are cut like it.
TEST(CallTopology, TheLongestBlockDeterminesTheCost) {
  Member member(0);
  const Blocks few(Pattern::kMultiBroadcast, 5000, 20000);
  const Blocks all(Pattern::kMultiBroadcast, 20000, 20000);
  const auto us_of = [&](PatternCall call) {
    call.topology = {Shape::kIncreasingRings, 1};
    return PredictCall(member.state, call).us;
  };
  EXPECT_EQ(us_of(few.call), us_of(all.call));
}

// No closed form knows what one copy for all of a host saves.
TEST(CallTopology, NoCandidateGoesByRankWhereSomeShareMemory) {
  for (const bool share_memory : {false, true}) {
    Member member(0, /*ranks_per_host=*/2);
    member.has.lands_in_peer_memory = share_memory;
    const PatternCall call = Call(Pattern::kBroadcast, 20000, {Shape::kTree, 2, /*by_host=*/true});
    bool by_rank = false;
    for (const Candidate& candidate : CandidatesOf(member.state, call, /*late_us=*/0)) {
      by_rank |= !candidate.topology.by_host;
    }
    EXPECT_EQ(by_rank, !share_memory);
  }
}

// A block has one reader, so no message is for several ranks of a host.
TEST(CallTopology, GathersAndScattersGoByHostIfTheirBlocksAreShort) {
  Member member(0, /*ranks_per_host=*/2);
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (const int root : {0, 5}) {
      Blocks brief(pattern, 64, 64);
      Blocks lengthy(pattern, kLong, kLong);
      brief.call.root = lengthy.call.root = root;
      EXPECT_TRUE(member.Chosen(brief.call).topology.by_host);
      EXPECT_FALSE(member.Chosen(lengthy.call).topology.by_host);
    }
  }
}

// Where that gives the same bits, and a host has several ranks.
TEST(CallTopology, BlocksMayGoByHostWhereTheirOrderIsFree) {
  const auto by_host = [](Pattern pattern, Element type, int ranks_per_host) {
    Member member(0, ranks_per_host);
    member.has.lands_in_peer_memory = false;
    Blocks multi(pattern, 5000, 5000);
    multi.call.type = type;
    const std::vector<Candidate> candidates = CandidatesOf(member.state, multi.call, 0);
    return std::any_of(candidates.begin(), candidates.end(),
                       [](const Candidate& candidate) { return candidate.topology.by_host; });
  };
  EXPECT_TRUE(by_host(Pattern::kMultiBroadcast, Element::kDouble, 2));
  EXPECT_TRUE(by_host(Pattern::kGather, Element::kDouble, 2));
  EXPECT_TRUE(by_host(Pattern::kMultiReduce, Element::kInt64, 2));
  EXPECT_FALSE(by_host(Pattern::kMultiReduce, Element::kDouble, 2));
  EXPECT_FALSE(by_host(Pattern::kMultiBroadcast, Element::kDouble, 1));
}

// Even if the call says by host.
TEST(CallTopology, ScansAndAllToAllsKeepToRanks) {
  Member member(0, /*ranks_per_host=*/2);
  member.has.lands_in_peer_memory = false;
  const Blocks blocks(Pattern::kAllToAll, 5000, 20000);
  for (PatternCall call : {Call(Pattern::kScan, 20000), blocks.call}) {
    call.topology = EntryOf(call.pattern).topologies.front();
    call.topology.by_host = true;
    const std::vector<Candidate> candidates = CandidatesOf(member.state, call, 0);
    EXPECT_FALSE(candidates.empty());
    for (const Candidate& candidate : candidates) EXPECT_FALSE(candidate.topology.by_host);
  }
}

TEST(CallTopology, SegmentsOfASumHoldWholeElements) {
  Member member(0);
  PatternCall call = Call(Pattern::kReduce, 4800, {Shape::kTree, 2});
  call.segment_bytes = 24;
  call.type = Element::kComplexDouble;
  EXPECT_EQ(PredictCall(member.state, call).segment_bytes, 16u);
  call.pattern = Pattern::kBroadcast;
  EXPECT_EQ(PredictCall(member.state, call).segment_bytes, 24u);
}

TEST(CallTopology, NoCandidatesWithoutAModelOrAValidPeer) {
  Member unmeasured(0, 1, /*measured=*/false);
  EXPECT_TRUE(CandidatesOf(unmeasured.state, Call(Pattern::kBroadcast, 8), 0).empty());
  Member member(0);
  for (const int peer : {-1, 8}) {
    PatternCall call = Call(Pattern::kSend, 8);
    call.root = peer;
    EXPECT_TRUE(CandidatesOf(member.state, call, 0).empty());
  }
}

// Its two hosts count, and not the group's.
TEST(CallTopology, ASendIsPredictedBetweenItsTwoRanks) {
  Member member(6, /*ranks_per_host=*/2);
  const auto us_to = [&](int peer) {
    PatternCall call = Call(Pattern::kSend, kLong, Topology());
    call.root = peer;
    return PredictCall(member.state, call).us;
  };
  EXPECT_LT(10 * us_to(7), us_to(5));
  EXPECT_EQ(us_to(5), us_to(0));
}

TEST(CallTopology, LatenessAddsToTheCost) {
  Member member(0);
  const PatternCall call = Call(Pattern::kBroadcast, 8);
  const std::vector<Candidate> at_once = CandidatesOf(member.state, call, 0);
  const std::vector<Candidate> late = CandidatesOf(member.state, call, 1e6);
  ASSERT_EQ(late.size(), at_once.size());
  for (size_t i = 0; i < late.size(); ++i) EXPECT_GT(late[i].cost.us, at_once[i].cost.us);
}

}  // namespace
}  // namespace brigade
