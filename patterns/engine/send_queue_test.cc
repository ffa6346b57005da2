#include "patterns/engine/send_queue.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

constexpr size_t kChunk = 1024;

// An endpoint that takes sends as the test says, and notes them.
class Fake : public ForwardingEndpoint {
 public:
  struct Sent {
    Channel channel;
    int peer;
    ConstByteSpan segment;
    Completion* completion;
  };

  using ForwardingEndpoint::ForwardingEndpoint;
  const Capabilities& capabilities() const override { return has; }
  uint64_t PollsBeforeSleep() const override { return 0; }
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    ++asked;
    if (peer == busy_peer || channel.kind == busy_kind)
      return Status(StatusCode::kNoResource, "not now");
    if (!failure.ok()) return failure;
    sent.push_back({channel, peer, segment, completion});
    return Status();
  }
  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept) override {
    ++asked;
    if (says != SentNow::kYes) return says;
    *kept = kept_bytes;
    sent.push_back({channel, peer, {nullptr, head.bytes + body.bytes}, completion});
    return SentNow::kYes;
  }
  // The first that is under way is over.
  void Complete(const Status& status = Status()) {
    Completion* const completion = sent.front().completion;
    sent.erase(sent.begin());
    completion->status = status;
    completion->callback(completion);
  }

  Capabilities has;
  int busy_peer = -1;
  std::optional<ChannelKind> busy_kind;
  Status failure;
  SentNow says = SentNow::kYes;
  size_t kept_bytes = 0;
  int asked = 0;
  std::vector<Sent> sent;
};

class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() : endpoint_(world_.CreateEndpoint(0)) {
    options_.chunk_bytes = kChunk;
    settings_.chunk_bytes = kChunk;
    for (GroupState* group : {&group_, &other_}) group->capabilities = &endpoint_.has;
    group_.id = 1;
    other_.id = 2;
  }
  void SetUp() override { Make(8); }
  void Make(int surplus) {
    options_.staging_bytes = static_cast<size_t>(CoreChunks(settings_) + surplus) * kChunk;
    queue_.reset();
    buffers_ = std::make_unique<StagingBuffers>(&endpoint_, options_);
    ASSERT_TRUE(buffers_->Allocate(settings_).ok());
    queue_ = std::make_unique<SendQueue>(&endpoint_, buffers_.get(), &failing_);
  }
  // Posts `bytes` bytes to the peer, from a buffer that is given up at once.
  Status Post(int peer, size_t bytes = 10, ChannelKind kind = ChannelKind::kAll,
              GroupState* group = nullptr) {
    StagedBuffer* const buffer = buffers_->TrySurplus(1);
    return PostFrom(buffer, peer, bytes, kind, group);
  }
  Status PostFrom(StagedBuffer* buffer, int peer, size_t bytes = 10,
                  ChannelKind kind = ChannelKind::kAll, GroupState* group = nullptr) {
    const Status status = queue_->Post(group == nullptr ? &group_ : group, kind, peer,
                                       {buffer->memory.data, bytes}, buffer);
    buffers_->Release(buffer);
    return status;
  }
  SentNow Now(int peer) {
    const StridedLayout layout = StridedLayout::Contiguous(100);
    std::byte memory[100];
    return queue_->SendNow(&group_, ChannelKind::kAll, peer, {memory, 32},
                           {&layout, memory, 0, 100}, &statistics_);
  }
  // Every other time it says to look at the pool again.
  StagedBuffer* Overflow() {
    StagedBuffer* const buffer = buffers_->TryOverflow(100, &statistics_);
    return buffer != nullptr ? buffer : buffers_->TryOverflow(100, &statistics_);
  }
  std::vector<size_t> Lengths() const {
    std::vector<size_t> lengths;
    for (const Fake::Sent& sent : endpoint_.sent) lengths.push_back(sent.segment.bytes);
    return lengths;
  }
  size_t InUse() const { return buffers_->pool()->statistics().in_use_bytes / kChunk; }

  InprocWorld world_{1};
  Fake endpoint_;
  EngineOptions options_;
  SegmentSettings settings_;
  OperationStatistics statistics_;
  GroupState group_;
  GroupState other_;
  std::unique_ptr<StagingBuffers> buffers_;
  std::vector<GroupState*> failing_;
  std::unique_ptr<SendQueue> queue_;
};

TEST_F(SendQueueTest, ASendIsUnderWayUntilItsCompletion) {
  StagedBuffer* const buffer = buffers_->TrySurplus(1);
  ASSERT_TRUE(PostFrom(buffer, 3, 77, ChannelKind::kRow).ok());
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  EXPECT_EQ(endpoint_.sent[0].channel.group, group_.id);
  EXPECT_EQ(endpoint_.sent[0].channel.kind, ChannelKind::kRow);
  EXPECT_EQ(endpoint_.sent[0].peer, 3);
  EXPECT_EQ(endpoint_.sent[0].segment.data, buffer->memory.data);
  EXPECT_EQ(endpoint_.sent[0].segment.bytes, 77u);
  EXPECT_EQ(queue_->in_flight(), 1u);
  EXPECT_EQ(group_.sends_in_flight, 1u);
  EXPECT_EQ(buffer->pending, 1);
  EXPECT_FALSE(queue_->has_deferred());
  endpoint_.Complete();
  EXPECT_EQ(queue_->in_flight(), 0u);
  EXPECT_EQ(group_.sends_in_flight, 0u);
  EXPECT_FALSE(buffer->freed);  // it is over
}

TEST_F(SendQueueTest, ABufferIsOverWhenItsLastSendIs) {
  Make(1);
  StagedBuffer* const buffer = buffers_->TrySurplus(1);
  for (const int peer : {1, 2}) {
    const ConstByteSpan segment(buffer->memory.data, 8);
    ASSERT_TRUE(queue_->Post(&group_, ChannelKind::kAll, peer, segment, buffer).ok());
  }
  buffers_->Release(buffer);
  endpoint_.Complete();
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);
  endpoint_.Complete();
  StagedBuffer* const next = buffers_->TrySurplus(1);
  ASSERT_NE(next, nullptr);
  // As long as its owner has it, it stays.
  ASSERT_TRUE(queue_->Post(&group_, ChannelKind::kAll, 1, {next->memory.data, 8}, next).ok());
  endpoint_.Complete();
  EXPECT_EQ(buffers_->TrySurplus(1), nullptr);
  buffers_->Release(next);
}

TEST_F(SendQueueTest, DeferredSendsKeepTheirOrder) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1, 10).ok());
  ASSERT_TRUE(Post(1, 11).ok());
  ASSERT_TRUE(Post(2, 20).ok());  // is in nobody's way
  EXPECT_EQ(Lengths(), std::vector<size_t>{20});
  EXPECT_TRUE(queue_->has_deferred());
  EXPECT_EQ(queue_->in_flight(), 3u);
  EXPECT_EQ(group_.sends_in_flight, 3u);

  // The first of them alone is requested.
  endpoint_.asked = 0;
  EXPECT_FALSE(queue_->PostDeferred());
  EXPECT_EQ(endpoint_.asked, 1);

  endpoint_.busy_peer = -1;
  ASSERT_TRUE(Post(1, 12).ok());  // waits behind them, though it would be taken
  ASSERT_TRUE(Post(1, 13, ChannelKind::kRow).ok());
  ASSERT_TRUE(Post(1, 14, ChannelKind::kAll, &other_).ok());
  EXPECT_EQ(Lengths(), (std::vector<size_t>{20, 13, 14}));
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Lengths(), (std::vector<size_t>{20, 13, 14, 10, 11, 12}));
  EXPECT_FALSE(queue_->has_deferred());
  EXPECT_FALSE(queue_->PostDeferred());
  while (!endpoint_.sent.empty()) endpoint_.Complete();
  EXPECT_EQ(queue_->in_flight(), 0u);
}

TEST_F(SendQueueTest, ARefusedSendDelaysItsPeerOnly) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1, 10).ok());
  endpoint_.busy_peer = 2;
  ASSERT_TRUE(Post(2, 20).ok());
  ASSERT_TRUE(Post(1, 11).ok());
  ASSERT_TRUE(Post(2, 21).ok());
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Lengths(), (std::vector<size_t>{10, 11}));
  endpoint_.busy_peer = -1;
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Lengths(), (std::vector<size_t>{10, 11, 20, 21}));
  while (!endpoint_.sent.empty()) endpoint_.Complete();
}

TEST_F(SendQueueTest, ARefusedSendDelaysItsChannelOnly) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1, 10).ok());
  ASSERT_TRUE(Post(1, 20, ChannelKind::kRow).ok());
  endpoint_.busy_peer = -1;
  endpoint_.busy_kind = ChannelKind::kAll;
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Lengths(), std::vector<size_t>{20});
  endpoint_.busy_kind.reset();
  EXPECT_TRUE(queue_->PostDeferred());
  while (!endpoint_.sent.empty()) endpoint_.Complete();
}

TEST_F(SendQueueTest, AFailedPostReturnsItsError) {
  endpoint_.failure = Status(StatusCode::kPeerLost, "gone");
  EXPECT_EQ(Post(1).code(), StatusCode::kPeerLost);
  EXPECT_EQ(queue_->in_flight(), 0u);
  EXPECT_EQ(group_.sends_in_flight, 0u);
  EXPECT_TRUE(group_.failure.ok());
  EXPECT_TRUE(queue_->failure().ok());
  EXPECT_FALSE(queue_->has_deferred());
}

TEST_F(SendQueueTest, AFailureLaterBreaksTheGroup) {
  ASSERT_TRUE(Post(4).ok());
  ASSERT_TRUE(Post(5).ok());
  ASSERT_TRUE(Post(6, 10, ChannelKind::kAll, &other_).ok());
  endpoint_.Complete(Status(StatusCode::kPeerLost, "gone"));
  EXPECT_EQ(group_.failure.code(), StatusCode::kPeerLost);
  EXPECT_EQ(group_.failure.message(), "a send to rank 4: gone");
  EXPECT_EQ(queue_->failure().message(), group_.failure.message());
  endpoint_.Complete(Status(StatusCode::kInternal, "later"));
  EXPECT_EQ(group_.failure.code(), StatusCode::kPeerLost);
  endpoint_.Complete(Status(StatusCode::kInternal, "of another"));
  EXPECT_EQ(other_.failure.message(), "a send to rank 6: of another");
  EXPECT_EQ(queue_->failure().message(), group_.failure.message());
  EXPECT_EQ(queue_->in_flight(), 0u);
}

TEST_F(SendQueueTest, AFailureOfADeferredSendBreaksTheGroup) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1).ok());
  endpoint_.busy_peer = -1;
  endpoint_.failure = Status(StatusCode::kInternal, "no");
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(group_.failure.message(), "a send to rank 1: no");
  EXPECT_FALSE(queue_->has_deferred());
  EXPECT_EQ(queue_->in_flight(), 0u);
}

// A rank to which the lost peer has forwarded a lease may still read the memory.
TEST_F(SendQueueTest, MemoryThatALostPeerCouldPassOnIsNotUsedAgain) {
  for (const bool lands_in_peer_memory : {false, true}) {
    for (const StatusCode code : {StatusCode::kPeerLost, StatusCode::kInternal}) {
      Make(1);
      endpoint_.has.lands_in_peer_memory = lands_in_peer_memory;
      StagedBuffer* const first = buffers_->TrySurplus(1);
      const std::byte* const only = first->memory.data;
      buffers_->Release(first);
      ASSERT_TRUE(Post(1).ok());
      endpoint_.Complete(Status(code, ""));
      StagedBuffer* const next = buffers_->TrySurplus(1);
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(next->memory.data != only, lands_in_peer_memory && code == StatusCode::kPeerLost);
      buffers_->Release(next);
    }
  }
}

TEST_F(SendQueueTest, ABrokenGroupsDeferredSendsEnd) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1, 10).ok());
  ASSERT_TRUE(Post(1, 20, ChannelKind::kAll, &other_).ok());
  ASSERT_TRUE(Post(1, 11).ok());
  ASSERT_TRUE(Post(1, 21, ChannelKind::kAll, &other_).ok());
  ASSERT_TRUE(Post(2, 12).ok());  // is the transport's already
  EXPECT_TRUE(queue_->HasDeferredOf(group_));
  group_.failure = Status(StatusCode::kPeerLost, "gone");
  queue_->GiveUp(&group_);
  EXPECT_FALSE(queue_->HasDeferredOf(group_));
  EXPECT_TRUE(queue_->HasDeferredOf(other_));
  EXPECT_EQ(group_.sends_in_flight, 1u);
  EXPECT_EQ(queue_->given_up(), 1u);
  EXPECT_EQ(group_.failure.message(), "gone");
  endpoint_.busy_peer = -1;
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Lengths(), (std::vector<size_t>{12, 20, 21}));
  EXPECT_TRUE(other_.failure.ok());
  while (!endpoint_.sent.empty()) endpoint_.Complete();
  EXPECT_EQ(queue_->given_up(), 0u);
  EXPECT_EQ(InUse(), 0u);
}

TEST_F(SendQueueTest, ASlowReceiverIsNamed) {
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kAll), -1);
  ASSERT_TRUE(Post(5).ok());
  endpoint_.busy_peer = 6;
  ASSERT_TRUE(Post(6, 10, ChannelKind::kRow).ok());
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kAll), 5);
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kRow), 6);  // deferred
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kColumn), -1);
  EXPECT_EQ(queue_->SlowReceiver(&other_, ChannelKind::kAll), -1);
  endpoint_.Complete();
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kAll), -1);
  queue_->GiveUp(&group_);
}

TEST_F(SendQueueTest, SendNowIsTheEndpointsAndIsCounted) {
  EXPECT_EQ(Now(1), SentNow::kYes);
  EXPECT_EQ(queue_->in_flight(), 1u);
  EXPECT_EQ(group_.sends_in_flight, 1u);
  EXPECT_EQ(statistics_.messages_sent, 1u);
  EXPECT_EQ(statistics_.bytes_sent, 132u);
  EXPECT_EQ(statistics_.copies, 0u);
  EXPECT_EQ(statistics_.overflow_segments, 0u);
  endpoint_.kept_bytes = 60;
  EXPECT_EQ(Now(1), SentNow::kYes);
  EXPECT_EQ(statistics_.messages_sent, 2u);
  EXPECT_EQ(statistics_.copies, 1u);
  EXPECT_EQ(statistics_.bytes_copied, 60u);
  EXPECT_EQ(statistics_.overflow_segments, 1u);
  for (const SentNow no : {SentNow::kNo, SentNow::kNotYet}) {
    endpoint_.says = no;
    EXPECT_EQ(Now(1), no);
    EXPECT_EQ(statistics_.messages_sent, 2u);
    EXPECT_EQ(queue_->in_flight(), 2u);
    EXPECT_EQ(group_.sends_in_flight, 2u);
  }
  // It holds no buffer that a receiver could be slow to give back.
  EXPECT_EQ(queue_->SlowReceiver(&group_, ChannelKind::kAll), -1);
  endpoint_.Complete();
  endpoint_.has.lands_in_peer_memory = true;  // no matter: it lies in none of ours
  endpoint_.Complete(Status(StatusCode::kPeerLost, "gone"));
  EXPECT_EQ(queue_->in_flight(), 0u);
  EXPECT_EQ(group_.failure.message(), "a send to rank 1: gone");
  EXPECT_EQ(failing_, (std::vector<GroupState*>{&group_}));
  EXPECT_EQ(group_.cause.text, group_.failure.message());
}

TEST_F(SendQueueTest, SendNowOvertakesNothing) {
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(Post(1).ok());
  endpoint_.busy_peer = -1;
  endpoint_.asked = 0;
  EXPECT_EQ(Now(1), SentNow::kNo);
  EXPECT_EQ(endpoint_.asked, 0);
  EXPECT_EQ(Now(2), SentNow::kYes);
  EXPECT_TRUE(queue_->PostDeferred());
  EXPECT_EQ(Now(1), SentNow::kYes);
  while (!endpoint_.sent.empty()) endpoint_.Complete();
}

TEST_F(SendQueueTest, OverflowGoesThroughRegisteredMemory) {
  endpoint_.has.needs_registered_memory = true;
  Make(settings_.pair_chunks);
  ASSERT_TRUE(buffers_->drains_overflow());
  const auto post = [&](const char* text) {
    StagedBuffer* const buffer = Overflow();
    ASSERT_NE(buffer, nullptr);
    std::memcpy(buffer->memory.data, text, std::strlen(text));
    ASSERT_TRUE(PostFrom(buffer, 1, std::strlen(text)).ok());
  };
  const auto text_of = [&](const Fake::Sent& sent) {
    return std::string(reinterpret_cast<const char*>(sent.segment.data), sent.segment.bytes);
  };
  post("first");
  post("second");  // there is memory for one
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  EXPECT_EQ(text_of(endpoint_.sent[0]), "first");
  EXPECT_EQ(InUse(), static_cast<size_t>(settings_.pair_chunks));
  const std::byte* const registered = endpoint_.sent[0].segment.data;
  EXPECT_FALSE(queue_->PostDeferred());
  endpoint_.Complete();
  EXPECT_TRUE(queue_->PostDeferred());
  ASSERT_EQ(endpoint_.sent.size(), 1u);
  EXPECT_EQ(text_of(endpoint_.sent[0]), "second");
  EXPECT_EQ(endpoint_.sent[0].segment.data, registered);
  endpoint_.Complete();
  EXPECT_EQ(buffers_->overflow()->statistics().in_use_bytes, 0u);
}

TEST_F(SendQueueTest, StagedDataAreSentFromStagingMemory) {
  endpoint_.has.needs_registered_memory = true;
  Make(settings_.pair_chunks + 1);
  StagedBuffer* const buffer = buffers_->TrySurplus(1);
  ASSERT_TRUE(PostFrom(buffer, 1).ok());
  EXPECT_EQ(endpoint_.sent[0].segment.data, buffer->memory.data);
  endpoint_.Complete();
}

// It is copied once, however often it is refused.
TEST_F(SendQueueTest, OverflowIsMovedOnce) {
  endpoint_.has.needs_registered_memory = true;
  Make(settings_.pair_chunks + 1);
  StagedBuffer* const buffer = Overflow();
  ASSERT_NE(buffer, nullptr);
  endpoint_.busy_peer = 1;
  ASSERT_TRUE(PostFrom(buffer, 1).ok());
  EXPECT_FALSE(queue_->PostDeferred());
  EXPECT_EQ(InUse(), static_cast<size_t>(settings_.pair_chunks));
  endpoint_.busy_peer = -1;
  EXPECT_TRUE(queue_->PostDeferred());
  endpoint_.Complete();
  EXPECT_EQ(InUse(), static_cast<size_t>(settings_.pair_chunks));  // ready for the next
}

}  // namespace
}  // namespace brigade
