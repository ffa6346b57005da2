#include "patterns/engine/staging_buffers.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/heap_domain.h"
#include "patterns/rules.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr size_t kChunk = 1024;

// An endpoint with memory of its own, which remembers what is given back.
class Fake : public ForwardingEndpoint {
 public:
  Fake(std::unique_ptr<Endpoint> target, MemoryDomain* domain)
      : ForwardingEndpoint(std::move(target)), domain_(domain) {}

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return domain_; }
  uint64_t PollsBeforeSleep() const override { return polls_before_sleep; }
  void ReleaseLease(const Lease& lease) override { released.push_back(lease.token); }

  Capabilities capabilities_;
  uint64_t polls_before_sleep = 3;
  std::vector<uint64_t> released;

 private:
  MemoryDomain* const domain_;
};

class Owner final : public BufferOwner {
 public:
  bool KeepReserved(const ChunkRun& run) override {
    offered.push_back(run.first);
    return keeps;
  }
  void OnReclaimed(const StagedBuffer& buffer) override { over.push_back(buffer.owner_index); }

  bool keeps = false;
  std::vector<int> offered;
  std::vector<size_t> over;
};

class StagingBuffersTest : public testing::Test {
 protected:
  StagingBuffersTest() : endpoint_(world_.CreateEndpoint(0), &domain_) {
    options_.chunk_bytes = kChunk;
    options_.staging_bytes = 0;  // until Make
    options_.overflow_bytes = 64 << 10;
    settings_.chunk_bytes = kChunk;
  }

  // With a surplus of so many chunks.
  void Make(int surplus) {
    options_.staging_bytes = static_cast<size_t>(CoreChunks(settings_) + surplus) * kChunk;
    buffers_ = std::make_unique<StagingBuffers>(&endpoint_, options_);
    const Status status = buffers_->Allocate(settings_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // The same over an endpoint that sends from registered memory only.
  void MakeRegistered(int surplus) {
    endpoint_.capabilities_.needs_registered_memory = true;
    Make(surplus);
  }
  StagedBuffer* Overflow(size_t bytes = 100) { return buffers_->TryOverflow(bytes, &statistics_); }
  StagedBuffer* OverflowAtLast(size_t bytes = 100) {
    for (int i = 0; i < 1000; ++i) {
      if (StagedBuffer* buffer = Overflow(bytes)) return buffer;
    }
    return nullptr;
  }
  size_t InUse() const { return buffers_->pool()->statistics().in_use_bytes / kChunk; }

  InprocWorld world_{1};
  HeapDomain domain_;
  Fake endpoint_;
  EngineOptions options_;
  SegmentSettings settings_;
  OperationStatistics statistics_;
  std::unique_ptr<StagingBuffers> buffers_;
};

TEST_F(StagingBuffersTest, ABudgetThatIsTooSmallIsNamedWithTheLeast) {
  for (const bool registered : {false, true}) {
    endpoint_.capabilities_.needs_registered_memory = registered;
    // Overflow has to drain through a run beside the core.
    const int least = CoreChunks(settings_) + (registered ? settings_.pair_chunks : 0);
    options_.staging_bytes = static_cast<size_t>(least) * kChunk;
    EXPECT_TRUE(StagingBuffers(&endpoint_, options_).Allocate(settings_).ok());
    options_.staging_bytes -= kChunk;
    const Status status = StagingBuffers(&endpoint_, options_).Allocate(settings_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    for (const size_t value : {options_.staging_bytes, options_.staging_bytes + kChunk}) {
      EXPECT_NE(status.message().find(std::to_string(value)), std::string::npos)
          << status.message();
    }
  }
}

TEST_F(StagingBuffersTest, MemoryThatCannotBeHadIsAFailure) {
  DomainLimits limits;
  limits.max_total_bytes = kChunk;
  HeapDomain scarce(limits);
  InprocWorld world(1);
  Fake endpoint(world.CreateEndpoint(0), &scarce);
  options_.staging_bytes = 64 * kChunk;
  EXPECT_EQ(StagingBuffers(&endpoint, options_).Allocate(settings_).code(),
            StatusCode::kOutOfMemory);
}

TEST_F(StagingBuffersTest, TheSurplusIsLentAndNoMore) {
  Make(4);
  StagedBuffer* const three = buffers_->TrySurplus(3);
  ASSERT_NE(three, nullptr);
  EXPECT_EQ(three->memory.bytes, 3 * kChunk);
  EXPECT_EQ(three->memory.data, three->run.memory.data);
  EXPECT_EQ(buffers_->TrySurplus(2), nullptr);
  StagedBuffer* const one = buffers_->TrySurplus(1);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);
  EXPECT_FALSE(buffers_->pool()->TryAcquireSurplus(0, 1));
  buffers_->Release(three);
  buffers_->Release(one);
}

TEST_F(StagingBuffersTest, ABufferOfTheCoreIsCountedWhileItLives) {
  Make(1);
  int outstanding = 0;
  const int core = CoreChunks(settings_);
  std::vector<StagedBuffer*> all;
  for (int i = 0; i < core; ++i) all.push_back(buffers_->TryCore(0, 1, &outstanding));
  EXPECT_EQ(outstanding, core);
  for (const StagedBuffer* buffer : all) {
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(buffer->memory.bytes, kChunk);
  }
  EXPECT_EQ(buffers_->TryCore(0, 1, &outstanding), nullptr);
  EXPECT_EQ(outstanding, core);
  buffers_->Release(all.back());
  EXPECT_EQ(outstanding, core - 1);
  StagedBuffer* const again = buffers_->TryCore(0, 1, &outstanding);
  ASSERT_NE(again, nullptr);
  all.back() = again;

  int of_another = 0;
  buffers_->Release(std::exchange(all[0], nullptr));
  all[0] = buffers_->TryCore(0, 1, &of_another);
  buffers_->StopCounting(&outstanding);
  EXPECT_EQ(outstanding, 0);
  EXPECT_EQ(of_another, 1);
  for (StagedBuffer* buffer : all) buffers_->Release(buffer);
  EXPECT_EQ(outstanding, 0);
  EXPECT_EQ(of_another, 0);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(StagingBuffersTest, ABufferIsOverOnceItIsFreedAndSent) {
  Make(2);
  Owner owner;
  StagedBuffer* buffer = buffers_->TrySurplus(2);
  buffer->owner = &owner;
  buffer->owner_index = 7;
  buffer->lease.token = 9;
  buffer->pending = 1;
  buffers_->Release(buffer);
  EXPECT_DEATH(buffers_->Reclaim(buffer), "pending");
  EXPECT_TRUE(owner.over.empty());
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);
  EXPECT_TRUE(endpoint_.released.empty());
  buffer->pending = 0;
  buffers_->Reclaim(buffer);
  EXPECT_EQ(owner.over, std::vector<size_t>{7});
  EXPECT_EQ(endpoint_.released, std::vector<uint64_t>{9});
  EXPECT_TRUE(owner.offered.empty());
  // It serves again, and nothing is left in it.
  StagedBuffer* const before = buffer;
  buffer = buffers_->TrySurplus(2);
  ASSERT_EQ(buffer, before);
  EXPECT_EQ(buffer->owner, nullptr);
  EXPECT_EQ(buffer->lease.token, 0u);
  EXPECT_FALSE(buffer->freed);
  buffers_->Release(buffer);
}

TEST_F(StagingBuffersTest, AReservedRunIsOfferedToItsOwnerFirst) {
  Make(3);
  Owner owner;
  for (const bool keeps : {true, false}) {
    owner.keeps = keeps;
    const ChunkRun run = buffers_->pool()->TryAcquireSurplus(0, 1);
    StagedBuffer* const buffer = buffers_->New(run);
    buffer->origin = StagedBuffer::Origin::kReserved;
    buffer->owner = &owner;
    buffers_->Release(buffer);
    EXPECT_EQ(owner.offered.back(), run.first);
    EXPECT_EQ(InUse(), keeps ? 1u : 0u);
    if (keeps) buffers_->pool()->Release(run);
  }
  EXPECT_EQ(owner.over.size(), 2u);
  // Without an owner it goes back to all.
  StagedBuffer* const orphan = buffers_->New(buffers_->pool()->TryAcquireSurplus(0, 1));
  orphan->origin = StagedBuffer::Origin::kReserved;
  buffers_->Release(orphan);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(StagingBuffersTest, MemoryThatPeersMayReadIsNotLentAgain) {
  Make(2);
  int outstanding = 0;
  StagedBuffer* const core = buffers_->TryCore(0, 1, &outstanding);
  StagedBuffer* const surplus = buffers_->TrySurplus(1);
  StagedBuffer* const reserved = buffers_->New(buffers_->pool()->TryAcquireSurplus(0, 1));
  reserved->origin = StagedBuffer::Origin::kReserved;
  Owner owner;
  owner.keeps = true;
  reserved->owner = &owner;
  const std::set<std::byte*> read = {core->run.memory.data, surplus->run.memory.data,
                                     reserved->run.memory.data};
  for (StagedBuffer* buffer : {core, surplus, reserved}) {
    buffer->read_by_others = true;
    buffers_->Release(buffer);
  }
  EXPECT_TRUE(owner.offered.empty());
  EXPECT_EQ(outstanding, 0);
  // There is as much to lend as before, elsewhere.
  std::vector<StagedBuffer*> lent;
  while (StagedBuffer* buffer = buffers_->TrySurplus(1)) lent.push_back(buffer);
  while (StagedBuffer* buffer = buffers_->TryCore(0, 1, &outstanding)) lent.push_back(buffer);
  EXPECT_EQ(static_cast<int>(lent.size()), CoreChunks(settings_) + 2);
  EXPECT_TRUE(buffers_->shortage().ok());
  for (StagedBuffer* buffer : lent) {
    EXPECT_EQ(read.count(buffer->memory.data), 0u);
    buffers_->Release(buffer);
  }

  StagedBuffer* const overflow = OverflowAtLast();
  const std::byte* const memory = overflow->memory.data;
  overflow->read_by_others = true;
  buffers_->Release(overflow);
  StagedBuffer* const next = OverflowAtLast();
  EXPECT_NE(next->memory.data, memory);
  buffers_->Release(next);
}

TEST_F(StagingBuffersTest, AFailedReplacementOfReadableMemoryIsAShortage) {
  DomainLimits limits;
  limits.max_total_bytes = static_cast<size_t>(CoreChunks(settings_)) * kChunk;
  HeapDomain scarce(limits);
  InprocWorld world(1);
  Fake endpoint(world.CreateEndpoint(0), &scarce);
  options_.staging_bytes = limits.max_total_bytes;
  StagingBuffers buffers(&endpoint, options_);
  ASSERT_TRUE(buffers.Allocate(settings_).ok());
  EXPECT_TRUE(buffers.shortage().ok());
  int outstanding = 0;
  StagedBuffer* const core = buffers.TryCore(0, CoreChunks(settings_), &outstanding);
  core->read_by_others = true;
  buffers.Release(core);
  EXPECT_EQ(buffers.TryCore(0, 1, &outstanding), nullptr);
  EXPECT_EQ(buffers.shortage().code(), StatusCode::kOutOfMemory);
}

TEST_F(StagingBuffersTest, OverflowComesWhenPatienceEnds) {
  Make(1);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Overflow(), nullptr);
      EXPECT_FALSE(buffers_->OutOfPatience());
      EXPECT_EQ(buffers_->stalled(), i + 1);
    }
    StagedBuffer* const buffer = Overflow();
    ASSERT_NE(buffer, nullptr);
    EXPECT_GE(buffer->memory.bytes, kHeaderRoom + 100);
    // Then it is given every other time: the pool may have been drained meanwhile.
    EXPECT_EQ(Overflow(), nullptr);
    StagedBuffer* const second = Overflow();
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(statistics_.overflow_segments, 2u * (round + 1));
    buffers_->EndStall();
    EXPECT_EQ(buffers_->stalled(), 0);
    buffers_->Release(buffer);
    buffers_->Release(second);
  }
  // A returned chunk ends the wait, too.
  StagedBuffer* const surplus = buffers_->TrySurplus(1);
  EXPECT_EQ(Overflow(), nullptr);
  buffers_->Release(surplus);
  EXPECT_EQ(buffers_->stalled(), 0);
}

// Of what this rank receives none comes to those who wait for receivers; of overflow that is taken
// they may hope for more.
TEST_F(StagingBuffersTest, LeasesThatComeBackDoNotEndAWaitAndOverflowDoes) {
  Make(1);
  StagedBuffer* const overflow = OverflowAtLast();
  ASSERT_NE(overflow, nullptr);
  const int stalled = buffers_->stalled();
  EXPECT_GT(stalled, 0);
  std::byte there[8];
  buffers_->Release(buffers_->TakeLease(nullptr, Lease{there, sizeof(there), 1}));
  EXPECT_EQ(buffers_->stalled(), stalled);
  buffers_->Release(overflow);
  EXPECT_EQ(buffers_->stalled(), 0);
}

TEST_F(StagingBuffersTest, PatienceEndsByTheClock) {
  Make(1);
  endpoint_.polls_before_sleep = uint64_t{1} << 40;
  int looks = 1;
  StagedBuffer* buffer = nullptr;
  for (; (buffer = Overflow()) == nullptr; ++looks) {
    std::this_thread::sleep_for(std::chrono::microseconds(rules::kPlaceUs));
  }
  EXPECT_LT(looks, 40);
  buffers_->Release(buffer);
}

TEST_F(StagingBuffersTest, PatienceIsTheTransportsUpToALimit) {
  Make(1);
  EXPECT_EQ(buffers_->Patience(), 3);
  endpoint_.polls_before_sleep = uint64_t{1} << 40;
  EXPECT_EQ(buffers_->Patience(), static_cast<int>(rules::kLooksBeforeOverflow));
}

TEST_F(StagingBuffersTest, OverflowKeepsToItsLimit) {
  options_.overflow_bytes = 8 << 10;
  Make(1);
  StagedBuffer* const first = OverflowAtLast(8000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(OverflowAtLast(8000), nullptr);
  EXPECT_TRUE(buffers_->OutOfPatience());
  EXPECT_EQ(statistics_.overflow_segments, 1u);
  buffers_->Release(first);
  StagedBuffer* const next = OverflowAtLast(8000);
  ASSERT_NE(next, nullptr);
  buffers_->Release(next);

  options_.overflow_wait_seconds = 0;
  MemoryWait wait;
  Status status;
  while (status.ok()) status = buffers_->CheckWait(&wait);
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_NE(status.message().find(std::to_string(8 << 10)), std::string::npos);
}

TEST_F(StagingBuffersTest, BytesInTheirReceiveBufferStayInItsBuffer) {
  Make(2);
  StagedBuffer* const buffer = buffers_->TrySurplus(1);
  Lease lease{buffer->memory.data + kChunk - 1, 1, 0};
  EXPECT_EQ(buffers_->TakeLease(buffer, lease), buffer);
  EXPECT_EQ(buffer->lease.data, lease.data);
  EXPECT_EQ(buffer->origin, StagedBuffer::Origin::kSurplus);
  // A lease on the next message replaces it.
  buffer->lease.token = 4;
  lease.token = 5;
  EXPECT_EQ(buffers_->TakeLease(buffer, lease), buffer);
  EXPECT_EQ(endpoint_.released, std::vector<uint64_t>{4});
  EXPECT_EQ(buffer->lease.token, 5u);
  buffers_->Release(buffer);
  EXPECT_EQ(endpoint_.released, (std::vector<uint64_t>{4, 5}));
}

TEST_F(StagingBuffersTest, BytesElsewhereHaveABufferOfTheirOwn) {
  Make(1);
  std::byte elsewhere[8];
  StagedBuffer* const receive_buffer = buffers_->TrySurplus(1);
  const Lease behind{receive_buffer->memory.data + kChunk, 8, 6};  // no part of it
  const Lease before{receive_buffer->memory.data - 8, 8, 6};
  for (const Lease& lease : {Lease{elsewhere, 8, 6}, behind, before}) {
    StagedBuffer* const unused = lease.data == elsewhere ? receive_buffer : buffers_->TrySurplus(1);
    ASSERT_NE(unused, nullptr);
    StagedBuffer* const leased = buffers_->TakeLease(unused, lease);
    EXPECT_EQ(leased->origin, StagedBuffer::Origin::kLease);
    EXPECT_EQ(leased->lease.data, lease.data);
    // The receive buffer was not needed.
    StagedBuffer* const another = buffers_->TrySurplus(1);
    EXPECT_NE(another, nullptr);
    buffers_->Release(another);
    buffers_->Release(leased);
  }
  StagedBuffer* const of_none = buffers_->TakeLease(nullptr, {elsewhere, 8, 7});
  EXPECT_EQ(of_none->origin, StagedBuffer::Origin::kLease);
  buffers_->Release(of_none);
  EXPECT_EQ(endpoint_.released, (std::vector<uint64_t>{6, 6, 6, 7}));
}

TEST_F(StagingBuffersTest, DropReleasesTheReceivedBufferAndLease) {
  Make(1);
  ReceiveSlot slot;
  const auto arrive = [&](StatusCode code) {
    slot.buffer = buffers_->TrySurplus(1);
    ASSERT_NE(slot.buffer, nullptr);
    slot.arrived = true;
    slot.status = code == StatusCode::kOk ? Status() : Status(code, "");
    slot.lease.token = 8;
    buffers_->Drop(&slot);
    EXPECT_FALSE(slot.arrived);
    EXPECT_EQ(slot.buffer, nullptr);
  };
  arrive(StatusCode::kOk);
  EXPECT_EQ(endpoint_.released, std::vector<uint64_t>{8});
  arrive(StatusCode::kPeerLost);  // there is no lease
  buffers_->Drop(&slot);          // nor anything at all
  EXPECT_EQ(endpoint_.released.size(), 1u);
}

TEST_F(StagingBuffersTest, OverflowDrainsThoughAllElseIsInUse) {
  MakeRegistered(settings_.pair_chunks + 1);
  ASSERT_TRUE(buffers_->drains_overflow());
  StagedBuffer* const surplus = buffers_->TrySurplus(1);
  ASSERT_NE(surplus, nullptr);
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);  // the run is nobody else's
  const ChunkRun run = buffers_->TryDrainRun();
  ASSERT_TRUE(run);
  EXPECT_EQ(run.chunks, settings_.pair_chunks);
  EXPECT_FALSE(buffers_->TryDrainRun());
  // Other free memory is used, too. One run is held back, the other one is returned.
  buffers_->Release(surplus);
  const ChunkRun second = buffers_->TryDrainRun();
  ASSERT_TRUE(second);
  buffers_->ReturnDrainRun(run);
  EXPECT_EQ(buffers_->TrySurplus(2), nullptr);
  buffers_->ReturnDrainRun(second);
  StagedBuffer* const again = buffers_->TrySurplus(1);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);
  buffers_->Release(again);
}

TEST_F(StagingBuffersTest, OverflowNeedNotDrainWhereAnyMemoryWillDo) {
  Make(1);
  EXPECT_FALSE(buffers_->drains_overflow());
  EXPECT_EQ(InUse(), 0u);
}

// There overflow memory is registered as it is.
TEST(StagingBuffers, OverflowNeedNotDrainWhereTheDomainGrows) {
  class Growing : public HeapDomain {
   public:
    bool grows() const override { return true; }
  } domain;
  InprocWorld world(1);
  Fake endpoint(world.CreateEndpoint(0), &domain);
  endpoint.capabilities_.needs_registered_memory = true;
  EngineOptions options;
  options.chunk_bytes = kChunk;
  options.staging_bytes = 64 * kChunk;
  SegmentSettings settings;
  settings.chunk_bytes = kChunk;
  StagingBuffers buffers(&endpoint, options);
  ASSERT_TRUE(buffers.Allocate(settings).ok());
  EXPECT_FALSE(buffers.drains_overflow());
}

// A destructor in the child checks nothing and frees nothing.
TEST_F(StagingBuffersTest, AForkedChildOwnsNothing) {
  MakeRegistered(settings_.pair_chunks + 2);
  StagedBuffer* const lent = buffers_->TrySurplus(1);
  const auto end_in_child = [&] {
    buffers_->LeaveToTransport();
    buffers_.reset();
    _exit(0);
  };
  EXPECT_EXIT(end_in_child(), testing::ExitedWithCode(0), "");
  buffers_->Release(lent);
}

}  // namespace
}  // namespace brigade
