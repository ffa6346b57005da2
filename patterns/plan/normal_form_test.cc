#include "patterns/plan/normal_form.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/rules.h"

namespace brigade {
namespace {

bool SameCall(const PatternCall& a, const PatternCall& b) {
  return a.pattern == b.pattern && a.scope == b.scope && a.topology == b.topology &&
         a.root == b.root && a.segment_bytes == b.segment_bytes && a.matrix.data == b.matrix.data &&
         a.matrix.layout.bytes() == b.matrix.layout.bytes() && a.op == b.op && a.type == b.type &&
         a.locations == b.locations && a.blocks == b.blocks && a.decreasing == b.decreasing;
}

std::vector<PatternCall> CallsOf(const CatalogueEntry& entry) {
  static std::byte data;
  static const Matrix blocks[1];
  std::vector<PatternCall> calls;
  for (int shape = 0; shape <= static_cast<int>(Shape::kFree); ++shape) {
    for (const int parameter : {0, 1, 2, 7}) {
      for (const bool by_host : {false, true}) {
        for (const size_t bytes : {size_t{0}, rules::kUncutBytes, rules::kUncutBytes + 8}) {
          for (const bool sum : {false, true}) {  // in the order of its operands, or in any
            for (const bool odd : {false, true}) {
              PatternCall call;
              call.pattern = entry.pattern;
              call.topology = {static_cast<Shape>(shape), parameter, by_host};
              call.matrix.layout = StridedLayout::Contiguous(bytes);
              call.op = sum ? CombineOp::kSum : CombineOp::kAbsMax;
              if (odd) {
                call.matrix.data = &data;
                call.root = 3;
                call.blocks = blocks;
                call.decreasing = true;
              }
              calls.push_back(call);
            }
          }
        }
      }
    }
  }
  return calls;
}

const PatternCall& Form(const PatternCall& call, std::optional<PatternCall>* copy) {
  const CatalogueEntry& entry = EntryOf(call.pattern);
  return NormalForm(entry, call, NormalTopology(entry, call, call.matrix.layout.bytes()), copy);
}

// A topology whose order is not that of ranks is replaced; the others stay, by rank.
TEST(NormalForm, KeepsTheOrderOfRanks) {
  const UserOp op{nullptr, nullptr, 8, /*commutative=*/false};
  const auto topology_of = [&](Pattern pattern, const Topology& named, int root) {
    PatternCall call;
    call.pattern = pattern;
    call.topology = named;
    call.root = root;
    call.op = CombineOp::kUser;
    call.type = Element::kByte;
    call.user_op = &op;
    return NormalTopology(EntryOf(pattern), call, 1 << 20);
  };
  const Topology tree{Shape::kTree, 2};
  const Topology chain{Shape::kIncreasingRings, 1};
  const Pattern reduce = Pattern::kReduce;
  const Pattern all_reduce = Pattern::kAllReduce;
  for (const int root : {0, 2}) {
    for (const Topology& stays :
         {Topology{Shape::kTree, 3}, {Shape::kIncreasingRings, 2}, {Shape::kExchange, 8}}) {
      EXPECT_TRUE(topology_of(reduce, stays, root) == stays);
      EXPECT_TRUE(topology_of(all_reduce, stays, root) == stays);
    }
    EXPECT_TRUE(topology_of(reduce, {Shape::kTree, 3, true}, root) == Topology({Shape::kTree, 3}));
    EXPECT_TRUE(topology_of(reduce, {Shape::kCirculant, 0}, root) == tree);
    EXPECT_TRUE(topology_of(reduce, {Shape::kDecreasingRings, 3}, root) ==
                Topology({Shape::kIncreasingRings, 3}));
    EXPECT_TRUE(topology_of(all_reduce, {Shape::kReduceScatterAllgather, 0}, root) == chain);
    EXPECT_TRUE(topology_of(all_reduce, {Shape::kHypercube, 0}, root) ==
                Topology({Shape::kHypercube, 0}));
    for (const Topology& named : {chain, Topology{Shape::kCirculant, 0}}) {
      EXPECT_TRUE(topology_of(Pattern::kMultiReduce, named, root) == chain);
    }
  }
  // Scans have no other order: a topology that they do not know stays, and is refused.
  for (const Pattern pattern : {Pattern::kScan, Pattern::kExscan}) {
    EXPECT_TRUE(topology_of(pattern, chain, 0) == chain);
    EXPECT_TRUE(topology_of(pattern, {Shape::kHypercube, 0}, 0) ==
                Topology({Shape::kHypercube, 0}));
    EXPECT_TRUE(topology_of(pattern, {Shape::kDecreasingRings, 1}, 0) ==
                Topology({Shape::kDecreasingRings, 1}));
  }
  EXPECT_TRUE(topology_of(reduce, {Shape::kTwoTree, 0}, 0) == Topology({Shape::kTwoTree, 0}));
  EXPECT_TRUE(topology_of(reduce, {Shape::kTwoTree, 0}, 1) == tree);
}

TEST(NormalForm, LeavesANormalFormUnchanged) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const PatternCall& call : CallsOf(entry)) {
      const std::string about = std::string(entry.name) + ", shape " +
                                std::to_string(static_cast<int>(call.topology.shape)) +
                                ", parameter " + std::to_string(call.topology.parameter);
      std::optional<PatternCall> copy;
      const PatternCall normal = Form(call, &copy);
      EXPECT_EQ(copy.has_value(), !SameCall(call, normal)) << about;
      std::optional<PatternCall> again;
      EXPECT_EQ(&Form(normal, &again), &normal) << about;
      EXPECT_FALSE(again.has_value()) << about;
      // In place, as after a choice.
      copy = call;
      EXPECT_TRUE(SameCall(Form(*copy, &copy), normal)) << about;
    }
  }
}

PatternCall Normal(const PatternCall& call) {
  std::optional<PatternCall> copy;
  return Form(call, &copy);
}

TEST(NormalForm, DropsTheFieldsThatThePatternIgnores) {
  for (const CatalogueEntry& entry : Catalogue()) {
    for (const PatternCall& call : CallsOf(entry)) {
      const PatternCall normal = Normal(call);
      EXPECT_EQ(normal.root, entry.rooted ? call.root : 0) << entry.name;
      EXPECT_EQ(normal.blocks, entry.multi ? call.blocks : nullptr) << entry.name;
      EXPECT_EQ(normal.decreasing, HasDirection(entry.pattern) && call.decreasing) << entry.name;
      const size_t bytes = HasMatrix(entry.pattern) ? call.matrix.layout.bytes() : 0;
      EXPECT_EQ(normal.matrix.layout.bytes(), bytes);
      if (entry.topologies.empty()) {
        EXPECT_TRUE(normal.topology == Topology()) << entry.name;
      } else {
        EXPECT_EQ(normal.topology.shape == Shape::kFree, call.topology.shape == Shape::kFree);
      }
    }
  }
}

TEST(NormalForm, ReplacesTopologiesByTheirEquivalents) {
  PatternCall call;
  call.pattern = Pattern::kBroadcast;
  call.matrix.layout = StridedLayout::Contiguous(rules::kUncutBytes);
  call.topology = {Shape::kCirculant, 4, true};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kTree, 2, true}));
  call.topology = {Shape::kTwoTree, 4, true};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kTree, 2, false}));
  call.matrix.layout = StridedLayout::Contiguous(rules::kUncutBytes + 1);
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kTwoTree, 0, false}));

  call.pattern = Pattern::kMultiReduce;
  call.topology = {Shape::kTree, 5};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, false}));
  call.op = CombineOp::kAbsMax;
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, true}));
  call.topology = {Shape::kIncreasingRings, 1};  // requested by name
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, false}));

  call.pattern = Pattern::kScan;
  call.topology = {Shape::kIncreasingRings, 3, true};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, false}));
  call.pattern = Pattern::kGather;
  call.topology = {Shape::kTree, 5, true};
  EXPECT_TRUE(Normal(call).topology == call.topology);
  call.topology = {Shape::kIncreasingRings, 3, true};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, false}));
  call.pattern = Pattern::kAllToAll;
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kIncreasingRings, 1, false}));
  call.topology = {Shape::kCirculant, 5, true};
  EXPECT_TRUE(Normal(call).topology == (Topology{Shape::kCirculant, 0, false}));
}

}  // namespace
}  // namespace brigade
