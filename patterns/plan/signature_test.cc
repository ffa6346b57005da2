#include "patterns/plan/signature.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;

struct Calls {
  Calls() {
    config.settings = SegmentSettingsFor(32 << 10, 2 << 20, 128 << 10);
    scope = {kRanks, 1, 0, 1, 1, &config};
  }
  Signature Of(const PatternCall& call) const { return Signature::Of(call, scope); }

  EdgeConfig config;
  Scope scope;
};

PatternCall Call(Pattern pattern, size_t bytes) {
  PatternCall call;
  call.pattern = pattern;
  call.matrix.layout = StridedLayout::Contiguous(bytes);
  return call;
}

TEST(Signature, CallsThatDifferInAPropertyThatCountsDiffer) {
  const Calls calls;
  std::vector<PatternCall> all(1, Call(Pattern::kReduce, 800));
  const auto add = [&]() -> PatternCall& {
    all.push_back(all.front());
    return all.back();
  };
  add().pattern = Pattern::kAllReduce;
  add().scope = ChannelKind::kRow;
  add().topology = {Shape::kTree, 3};
  add().topology = {Shape::kExchange, 2};
  add().topology.by_host = true;
  add().topology_is_hint = true;
  add().root = 1;
  add().op = CombineOp::kAbsMax;
  add().type = Element::kFloat;
  int32_t location = 0;
  add().locations = &location;
  add().segment_bytes = 100;
  const UserOp ops[] = {
      {nullptr, nullptr, 8, true}, {nullptr, nullptr, 16, true}, {nullptr, nullptr, 8, false}};
  for (const UserOp& op : ops) {
    PatternCall& user = add();
    user.op = CombineOp::kUser;
    user.type = Element::kByte;
    user.user_op = &op;
  }
  add().matrix.layout = StridedLayout::Contiguous(1600);
  for (const PatternCall& one : all) {
    for (const PatternCall& other : all) {
      EXPECT_EQ(calls.Of(one) == calls.Of(other), &one == &other)
          << &one - all.data() << ' ' << &other - all.data();
    }
  }
}

TEST(Signature, FieldsThatThePatternIgnoresDoNotCount) {
  const Calls calls;
  const std::vector<Matrix> blocks(kRanks);
  for (const CatalogueEntry& entry : Catalogue()) {
    PatternCall call = Call(entry.pattern, 800);
    call.blocks = entry.multi ? blocks.data() : nullptr;
    PatternCall odd = call;
    if (entry.topologies.empty()) odd.topology = {Shape::kCirculant, 7, true};
    if (!entry.rooted) odd.root = 3;
    if (!entry.multi) odd.blocks = blocks.data();
    if (!HasDirection(entry.pattern)) odd.decreasing = true;
    if (entry.pattern != Pattern::kAllToAll) odd.equal_blocks = true;
    if (!entry.combines) odd.op = CombineOp::kAbsMin;
    if (!entry.combines) odd.type = Element::kComplexDouble;
    if (IsPair(entry.pattern)) odd.scope = ChannelKind::kColumn;
    if (!HasMatrix(entry.pattern)) odd.matrix.layout = StridedLayout::Contiguous(8);
    EXPECT_TRUE(calls.Of(call) == calls.Of(odd)) << entry.name;
  }
}

TEST(Signature, ByteCountsOfOneClassAreAlike) {
  const Calls calls;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{8}, size_t{1000}, size_t{100000}}) {
    const Signature signature = calls.Of(Call(Pattern::kBroadcast, bytes));
    const size_t greatest = signature.Greatest(calls.config.settings).longest;
    EXPECT_GE(greatest, bytes);
    EXPECT_EQ(signature.Greatest(calls.config.settings).total, greatest);
    EXPECT_TRUE(calls.Of(Call(Pattern::kBroadcast, greatest)) == signature) << bytes;
    EXPECT_FALSE(calls.Of(Call(Pattern::kBroadcast, greatest + 1)) == signature) << bytes;
  }
}

TEST(Signature, TheLongestBlockAndTheTotalCount) {
  const Calls calls;
  std::vector<Matrix> blocks(kRanks);
  for (Matrix& block : blocks) block.layout = StridedLayout::Contiguous(1000);
  PatternCall call = Call(Pattern::kMultiBroadcast, 0);
  call.blocks = blocks.data();
  const Signature even = calls.Of(call);
  EXPECT_EQ(even.Greatest(calls.config.settings).longest, 1024u);
  EXPECT_EQ(even.Greatest(calls.config.settings).total, 4096u);
  blocks[0].layout = StridedLayout::Contiguous(2000);
  EXPECT_FALSE(calls.Of(call) == even);
  blocks[1].layout = StridedLayout::Contiguous(0);
  EXPECT_FALSE(calls.Of(call) == even);
  // A total of 2^64 bytes, which is 0, would be no longer than a message may be.
  for (Matrix& block : blocks) block.layout = StridedLayout::Contiguous(size_t{1} << 62);
  EXPECT_EQ(calls.Of(call).Greatest(calls.config.settings).total, size_t{1} << 62);
}

TEST(Signature, SentBlocksCountForAnAllToAll) {
  const Calls calls;
  std::vector<Matrix> blocks(kRanks);
  std::vector<Matrix> sent(kRanks);
  PatternCall call = Call(Pattern::kAllToAll, 0);
  call.blocks = blocks.data();
  call.sent = sent.data();
  const Signature empty = calls.Of(call);
  sent[1].layout = StridedLayout::Contiguous(1000);
  EXPECT_EQ(calls.Of(call).Greatest(calls.config.settings).longest, 1024u);
  EXPECT_FALSE(calls.Of(call) == empty);
}

TEST(Signature, EqualityOfBlocksCountsForAnAllToAll) {
  const Calls calls;
  const std::vector<Matrix> blocks(kRanks);
  PatternCall call = Call(Pattern::kAllToAll, 0);
  call.blocks = call.sent = blocks.data();
  const Signature any = calls.Of(call);
  call.equal_blocks = true;
  EXPECT_FALSE(calls.Of(call) == any);
}

TEST(Signature, PeerAndPostableLengthCountForPointToPoint) {
  const Calls calls;
  const auto of = [&](int peer, size_t bytes) {
    PatternCall call = Call(Pattern::kSend, bytes);
    call.root = peer;
    return calls.Of(call);
  };
  EXPECT_TRUE(of(1, 8) == of(1, 4000));
  EXPECT_FALSE(of(1, 8) == of(2, 8));
  EXPECT_FALSE(of(1, 8).is_long());
  EXPECT_TRUE(of(1, rules::kLeastPostedBytes).is_long());
}

}  // namespace
}  // namespace brigade
