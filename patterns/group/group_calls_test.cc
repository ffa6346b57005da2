// Calls of groups of one rank.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/wire_header.h"
#include "patterns/group/group.h"
#include "patterns/group/operation.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<Group> NewGroup(Engine* engine, Bootstrap* bootstrap) {
  std::unique_ptr<Group> group;
  Require(Group::Create(engine, bootstrap, 1, bootstrap->size(), &group));
  return group;
}

// On one rank, whose calls are all checked as others' are.
TEST(GroupCalls, RefuseWrongCallsAlsoAfterRightOnes) {
  RunRanks(1, {}, [&](InprocWorld& world, int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    const auto group = NewGroup(engine.get(), world.MakeBootstrap(rank).get());
    std::byte values[8] = {};
    const auto add = [](void*, const void*, const void*, int64_t, void*) {};
    const UserOp right{add, nullptr, 1, true};
    const UserOp wrong{add, nullptr, 0, true};
    PatternCall call;
    call.pattern = Pattern::kAllReduce;
    call.matrix = {values, StridedLayout::Contiguous(sizeof(values))};
    call.op = CombineOp::kUser;
    call.type = Element::kByte;
    for (const UserOp* const op : {&right, &wrong, static_cast<const UserOp*>(nullptr)}) {
      call.user_op = op;
      EXPECT_EQ(group->Run(call).ok(), op == &right);
    }
    // All of an element is one segment, unless nobody sends it.
    constexpr size_t kLong = kMostUserElementBytes;
    std::vector<std::byte> element(kLong);
    const UserOp of_long{add, nullptr, kLong, true};
    call.user_op = &of_long;
    call.matrix.data = element.data();
    Require(StridedLayout::General(1, 1, 1, kLong, &call.matrix.layout));
    Require(group->Run(call));
    std::unique_ptr<Operation> operation;
    Require(group->Start(call, &operation));
    Require(operation->Wait());
    // A topology that the pattern does not have, whatever the order of ranks makes of it.
    const UserOp ordered{add, nullptr, kLong, false};
    call.user_op = &ordered;
    call.topology = {Shape::kCirculant, 0};
    EXPECT_EQ(group->Run(call).code(), StatusCode::kInvalidArgument);
    call.pattern = Pattern::kBroadcast;
    call.topology = {Shape::kTree, 2};
    call.matrix.layout = StridedLayout::Contiguous(size_t{1} << 48);
    EXPECT_EQ(group->Run(call).code(), StatusCode::kInvalidArgument);
  });
}

// Nothing is sent on one rank, so no element is too long for a segment.
TEST(GroupCalls, ElementsOfOneRankMayBeLongerThanSegments) {
  RunRanks(1, {}, [&](InprocWorld& world, int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 64 * 1024;
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), options, &engine));
    const auto group = NewGroup(engine.get(), world.MakeBootstrap(rank).get());
    constexpr size_t kLong = kMostUserElementBytes;
    const std::vector<std::byte> block(3 * kLong, std::byte{7});
    const UserOp op{[](void*, const void*, const void*, int64_t, void*) {}, nullptr, kLong, true};
    PatternCall call;
    call.pattern = Pattern::kMultiReduce;
    call.op = CombineOp::kUser;
    call.type = Element::kByte;
    call.user_op = &op;
    StridedLayout layout;
    Require(StridedLayout::General(3, 1, 3, kLong, &layout));
    const Matrix from{const_cast<std::byte*>(block.data()), layout};
    call.blocks = &from;
    for (const Topology& topology : EntryOf(call.pattern).topologies) {
      std::vector<std::byte> result(block.size());
      call.topology = topology;
      call.matrix = {result.data(), layout};
      Require(group->Run(call));
      EXPECT_EQ(result, block);
      std::fill(result.begin(), result.end(), std::byte{0});
      std::unique_ptr<Operation> operation;
      Require(group->Start(call, &operation));
      Require(operation->Wait());
      EXPECT_EQ(result, block);
    }
  });
}

// Parts of one matrix on both sides of its diagonal begin at one address, and are apart.
TEST(GroupCalls, SourcesMayBeginWhereTheResultDoes) {
  RunRanks(1, {}, [&](InprocWorld& world, int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    const auto group = NewGroup(engine.get(), world.MakeBootstrap(rank).get());
    using Part = StridedLayout::Part;
    std::array<double, 4> square = {1, 2, 3, 4};
    PatternCall call;
    call.pattern = Pattern::kAllReduce;
    call.matrix.data = reinterpret_cast<std::byte*>(square.data());
    call.source = call.matrix;
    const auto part = [](Part which, StridedLayout* layout) {
      Require(StridedLayout::Trapezoid(which, StridedLayout::Diagonal::kLeftOut, 2, 2, 2,
                                       sizeof(double), layout));
    };
    part(Part::kUpper, &call.matrix.layout);
    part(Part::kLower, &call.source->layout);
    Require(group->Run(call));
    EXPECT_EQ(square, (std::array<double, 4>{1, 2, 2, 4}));
  });
}

}  // namespace
}  // namespace brigade
