// Blocks of gathers, scatters and all-to-alls in posted buffers: how often they are copied,
// whichever rank is first. test/patterns/protocol_failures_test.cc has their failures.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/topology.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/protocol_member.h"
#include "test/support/run_ranks.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr Topology kFlat{Shape::kTree, kFlatBranches};
constexpr int kRanks = 4;
constexpr int kRoot = 1;
constexpr size_t kColumn = 1024;

// How ranks reach the memory of each other. kMappedWithBuffers: the group has other hosts, too.
enum class Reach { kMapped, kMappedWithBuffers, kByKernel, kNone };

bool IsMapped(Reach reach) { return reach == Reach::kMapped || reach == Reach::kMappedWithBuffers; }

class NeedsReceiveBuffers : public ForwardingEndpoint {
 public:
  explicit NeedsReceiveBuffers(std::unique_ptr<Endpoint> target)
      : ForwardingEndpoint(std::move(target)), capabilities_(ForwardingEndpoint::capabilities()) {
    capabilities_.needs_receive_buffer = true;
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  const Capabilities& CapabilitiesOf(GroupId) const override { return capabilities_; }
  const Capabilities& CapabilitiesTo(GroupId, int) const override { return capabilities_; }

 private:
  Capabilities capabilities_;
};

std::unique_ptr<Endpoint> NewEndpoint(Reach reach) {
  ShmOptions options;
  if (reach == Reach::kByKernel)
    options.kernel_copies = KernelCopies::Both({256, size_t{64} << 20});
  auto endpoint = GroupMember::OverShm(options);
  if (reach != Reach::kMappedWithBuffers) return endpoint;
  return std::make_unique<NeedsReceiveBuffers>(std::move(endpoint));
}

struct Member : ProtocolMember {
  Member(InprocWorld& world, int rank, std::unique_ptr<Endpoint> with)
      : ProtocolMember(world, rank, std::move(with), Options()) {}
  static EngineOptions Options() {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 128 * options.chunk_bytes;
    return options;
  }
};

// Columns, which lie apart from each other if `is_apart`.
class Block {
 public:
  Block(Reach reach, size_t columns, bool is_apart)
      : column_((is_apart ? 2 : 1) * kColumn), bytes_((columns + 1) * column_) {
    if (IsMapped(reach)) {
      Require(SharedAllocations::Here().Allocate(bytes_, &shared_));
    } else {
      own_.resize(bytes_);
    }
    matrix_.data = shared_ == nullptr ? own_.data() : static_cast<std::byte*>(shared_);
    Require(StridedLayout::General(kColumn, static_cast<int64_t>(columns),
                                   static_cast<int64_t>(column_), 1, &matrix_.layout));
  }
  ~Block() {
    if (shared_ != nullptr) SharedAllocations::Here().Free(shared_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const Matrix& matrix() const { return matrix_; }
  size_t bytes() const { return matrix_.layout.bytes(); }
  void Fill(int number) {
    for (size_t i = 0; i < bytes(); ++i) *At(i) = Datum(number, i);
  }
  bool Holds(int number) const {
    for (size_t i = 0; i < bytes(); ++i) {
      if (*At(i) != Datum(number, i)) return false;
    }
    return true;
  }

 private:
  static std::byte Datum(int number, size_t i) {
    return static_cast<std::byte>(static_cast<size_t>(number) * 57 + i + i / 251);
  }
  std::byte* At(size_t i) const { return matrix_.data + i / kColumn * column_ + i % kColumn; }

  const size_t column_;
  const size_t bytes_;
  void* shared_ = nullptr;
  std::vector<std::byte> own_;
  Matrix matrix_;
};

// The memory of one rank for calls. Blocks from rank p to rank q are filled with kRanks * p + q.
class Blocks {
 public:
  // `columns`: of the block to or from each rank.
  Blocks(Pattern pattern, Reach reach, const std::vector<size_t>& columns, int rank)
      : pattern_(pattern), rank_(rank), ranks_(static_cast<int>(columns.size())) {
    for (const size_t count : columns) {
      storage_.push_back(std::make_unique<Block>(reach, count, rank % 2 == 0));
      blocks_.push_back(storage_.back()->matrix());
    }
    for (int q = 0; pattern == Pattern::kAllToAll && q < ranks_; ++q) {
      sent_storage_.push_back(std::make_unique<Block>(reach, columns.front(), rank % 2 == 1));
      sent_.push_back(sent_storage_.back()->matrix());
    }
    call.pattern = pattern;
    call.topology = kFlat;
    if (pattern == Pattern::kAllToAll) call.topology = {Shape::kIncreasingRings, 1};
    call.root = kRoot;
    call.blocks = blocks_.data();
    call.sent = sent_.data();
  }

  void Fill() {
    for (int q = 0; q < ranks_; ++q) {
      storage_[static_cast<size_t>(q)]->Fill(-1);
      if (pattern_ == Pattern::kAllToAll) {
        sent_storage_[static_cast<size_t>(q)]->Fill(kRanks * rank_ + q);
      } else if (pattern_ == Pattern::kGather ? q == rank_ : rank_ == kRoot) {
        storage_[static_cast<size_t>(q)]->Fill(NumberOf(q));
      }
    }
  }
  void ExpectResult() const {
    for (int q = 0; q < ranks_; ++q) {
      const bool gets = pattern_ == Pattern::kAllToAll ||
                        (pattern_ == Pattern::kGather ? rank_ == kRoot : q == rank_);
      EXPECT_TRUE(!gets || storage_[static_cast<size_t>(q)]->Holds(NumberOf(q))) << q;
    }
  }
  size_t BytesOf(int q) const { return blocks_[static_cast<size_t>(q)].layout.bytes(); }
  // The bytes of the blocks that the root exchanges with the others.
  size_t BytesOfOthers() const {
    size_t bytes = 0;
    for (int q = 0; q < ranks_; ++q) bytes += q == kRoot ? 0 : BytesOf(q);
    return bytes;
  }

  PatternCall call;

 private:
  int NumberOf(int q) const {
    if (pattern_ == Pattern::kScatter) return kRanks * kRoot + q;
    return kRanks * q + (pattern_ == Pattern::kGather ? kRoot : rank_);
  }

  const Pattern pattern_;
  const int rank_;
  const int ranks_;
  std::vector<std::unique_ptr<Block>> storage_;
  std::vector<std::unique_ptr<Block>> sent_storage_;
  std::vector<Matrix> blocks_;
  std::vector<Matrix> sent_;
};

// A call that was started, and moves only if this rank says so.
class Started {
 public:
  Started(ProtocolMember* me, const PatternCall& call)
      : me_(me), executor_(Executor::New(me->engine.get())) {
    const Plan& plan = me->PlanOf(call);
    std::optional<PatternCall> copy;
    Require(executor_->Prepare(&me->state, *plan.entry, plan.schedule, plan.Resolved(call, &copy),
                               (*me->SequenceOf(call))++, /*blocking=*/false));
    me->engine->Activate(executor_.get());
    Move();
  }
  ~Started() { Executor::Keep(std::move(executor_)); }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  // Does all that does not depend on another rank.
  void Move() {
    while (me_->engine->Progress()) {
    }
  }
  Status Finish(OperationStatistics* did) {
    me_->engine->RunToEnd(executor_.get());
    me_->engine->Deactivate(executor_.get());
    executor_->Detach();
    *did = *executor_->statistics();
    return executor_->outcome();
  }

 private:
  ProtocolMember* const me_;
  std::unique_ptr<Executor> executor_;
};

OperationStatistics RunCall(ProtocolMember* me, const PatternCall& call) {
  OperationStatistics did;
  Require(me->Run(*me->PlanOf(call).protocols[0], call, &did));
  return did;
}
OperationStatistics Finish(Started* started) {
  OperationStatistics did;
  Require(started->Finish(&did));
  return did;
}

struct Case {
  const char* name;
  Pattern pattern;
  Reach reach;
  std::vector<size_t> columns;
};

const Case kCases[] = {
    {"scatter", Pattern::kScatter, Reach::kMapped, {80, 80, 80, 80}},
    {"scatter_by_kernel", Pattern::kScatter, Reach::kByKernel, {80, 80, 80, 80}},
    {"scatter_of_any_blocks", Pattern::kScatter, Reach::kMapped, {190, 70, 0, 60}},
    {"scatter_of_any_blocks_by_kernel", Pattern::kScatter, Reach::kByKernel, {190, 70, 0, 60}},
    {"scatter_with_buffers", Pattern::kScatter, Reach::kMappedWithBuffers, {190, 70, 0, 60}},
    {"scatter_to_private_memory", Pattern::kScatter, Reach::kNone, {80, 80, 80, 80}},
    {"gather", Pattern::kGather, Reach::kMapped, {80, 80, 80, 80}},
    {"gather_by_kernel", Pattern::kGather, Reach::kByKernel, {80, 80, 80, 80}},
    {"gather_of_any_blocks", Pattern::kGather, Reach::kMapped, {0, 70, 190, 60}},
    {"gather_with_buffers", Pattern::kGather, Reach::kMappedWithBuffers, {0, 70, 190, 60}},
    {"gather_to_private_memory", Pattern::kGather, Reach::kNone, {80, 80, 80, 80}},
};

class PostedBlocksTest : public testing::TestWithParam<Case> {
 protected:
  // Runs `body` on all ranks, between whom messages have passed.
  template <typename Body>
  void RunAll(const Body& body) {
    const Case& c = GetParam();
    RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank, NewEndpoint(c.reach));
      Blocks data(c.pattern, c.reach, c.columns, rank);
      data.Fill();
      RunCall(&me, data.call);
      data.ExpectResult();
      data.Fill();
      Meet(world, rank);
      const bool sends = (c.pattern == Pattern::kScatter) == (rank == kRoot);
      const size_t bytes = rank == kRoot ? data.BytesOfOthers() : data.BytesOf(rank);
      body(world, &me, &data, sends, bytes);
      data.ExpectResult();
      Meet(world, me.state.rank);
    });
  }
};

TEST_P(PostedBlocksTest, AreCopiedOnceIfTheirReceiversWait) {
  const bool posts = GetParam().reach != Reach::kNone;
  RunAll([&](InprocWorld& world, Member* me, Blocks* data, bool sends, size_t bytes) {
    if (sends) {
      Meet(world, me->state.rank);
      const OperationStatistics did = RunCall(me, data->call);
      EXPECT_EQ(did.bytes_copied, bytes);
      if (posts) {
        EXPECT_EQ(did.messages_sent, me->state.rank == kRoot ? kRanks - 1 : 1);
      }
    } else {
      Started started(me, data->call);
      Meet(world, me->state.rank);
      EXPECT_EQ(Finish(&started).bytes_copied, posts ? 0 : bytes);
    }
  });
}

// A receiver takes the segments that have come, and posts the rest.
TEST_P(PostedBlocksTest, AreCopiedTwiceAsFarAsTheirSendersWereEarly) {
  const bool posts = GetParam().reach != Reach::kNone;
  RunAll([&](InprocWorld& world, Member* me, Blocks* data, bool sends, size_t bytes) {
    const int rank = me->state.rank;
    std::optional<Started> started;
    if (sends) started.emplace(me, data->call);
    Meet(world, rank);
    if (!sends) started.emplace(me, data->call);
    Meet(world, rank);
    const size_t copied = Finish(&*started).bytes_copied;
    if (sends || !posts) {
      EXPECT_EQ(copied, bytes);
    } else if (bytes > 0) {
      EXPECT_LT(copied, bytes);
      EXPECT_TRUE(copied > 0 || (rank != kRoot && rank != (kRoot + 1) % kRanks));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Of, PostedBlocksTest, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

TEST(PostedBlocks, OfAnAllToAllAreCopiedOnceIfTheirReceiversWait) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, NewEndpoint(Reach::kMapped));
    Blocks data(Pattern::kAllToAll, Reach::kMapped, {80, 80}, rank);
    data.Fill();
    RunCall(&me, data.call);
    data.Fill();
    Meet(world, rank);
    // Its own block, the one that it sends and, if it waits for that of the other, no third one.
    if (rank == 0) {
      Started started(&me, data.call);
      Meet(world, rank);
      EXPECT_EQ(Finish(&started).bytes_copied, 2 * data.BytesOf(0));
    } else {
      Meet(world, rank);
      Started started(&me, data.call);
      EXPECT_GT(Finish(&started).bytes_copied, 2 * data.BytesOf(0));
    }
    data.ExpectResult();
    Meet(world, rank);
  });
}

// An endpoint whose pauses last until `during` has returned.
class Pausing : public ForwardingEndpoint {
 public:
  Pausing(std::unique_ptr<Endpoint> target, std::function<void()> during)
      : ForwardingEndpoint(std::move(target)), during_(std::move(during)) {}
  void Pause(uint64_t) override { during_(); }

 private:
  const std::function<void()> during_;
};

TEST(PostedBlocks, AGatherWaitsALittleForItsRoot) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    static std::atomic<bool> is_warm, is_awaited, has_posted;
    if (rank == kRoot) is_warm = is_awaited = has_posted = false;
    Meet(world, rank);
    auto endpoint = std::make_unique<Pausing>(NewEndpoint(Reach::kMapped), [&] {
      std::this_thread::yield();
      if (rank == kRoot || !is_warm) return;
      is_awaited = true;
      while (!has_posted) std::this_thread::yield();
    });
    Member me(world, rank, std::move(endpoint));
    Blocks data(Pattern::kGather, Reach::kMapped, {80, 80}, rank);
    data.Fill();
    RunCall(&me, data.call);
    Meet(world, rank);
    if (rank == kRoot) {
      is_warm = true;
      while (!is_awaited) std::this_thread::yield();
      Started started(&me, data.call);
      has_posted = true;
      EXPECT_EQ(Finish(&started).bytes_copied, 0u);
      data.ExpectResult();
    } else {
      while (!is_warm) std::this_thread::yield();
      EXPECT_EQ(RunCall(&me, data.call).messages_sent, 1u);
      is_awaited = true;
    }
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
