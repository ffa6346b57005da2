// How unstaged replies leave, as the transport under them sees it.

#include "windows/message/inbox.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "windows/memory/cache_line.h"
#include "windows/sync/process_lock.h"

namespace brigade {
namespace {

constexpr int kSegments = 5;
constexpr int kAnother = 1;

// Takes unstaged bytes, unless it is full, and looks whether rank 0 has the lock meanwhile.
class LookingEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  const Capabilities& CapabilitiesTo(GroupId group, int peer) const override {
    Look('.', '!');
    return ForwardingEndpoint::CapabilitiesTo(group, peer);
  }
  Status SendControl(GroupId, int, ConstByteSpan, Urgency) override {
    Look('.', '!');
    return Status();
  }
  bool SendsInPlace(const Channel&, int, const LayoutRange&) const override { return true; }
  SentNow SendNow(const Channel&, int, ConstByteSpan, const LayoutRange&, Completion* completion,
                  size_t*) override {
    if (is_full) return SentNow::kNotYet;
    Look('-', 'p');
    sent_.push_back(completion);
    return SentNow::kYes;
  }
  bool Progress() override {
    for (Completion* const sent : std::exchange(sent_, {})) sent->callback(sent);
    return ForwardingEndpoint::Progress();
  }

  ProcessLock* lock = nullptr;
  bool is_full = false;
  // The calls it saw: a read of a segment with the lock 'p' or without '-', and other calls while
  // the lock was free '.' or held '!'.
  mutable std::string seen;

 private:
  void Look(char if_free, char if_held) const {
    const char look = lock == nullptr || lock->holder() != 0 ? if_free : if_held;
    if (look != '.' || seen.empty() || seen.back() != '.') seen += look;
  }

  std::vector<Completion*> sent_;
};

// The only rank of a window, which sends requests to itself.
class InboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto looking = std::make_unique<LookingEndpoint>(world_.CreateEndpoint(0));
    endpoint_ = looking.get();
    owned_ = std::move(looking);
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 32 * options.chunk_bytes;
    ASSERT_TRUE(Engine::Create(endpoint_, options, &engine_).ok());
    ASSERT_TRUE(WindowSpace::Create(engine_.get(), &space_).ok());
    state_ = std::make_unique<GroupState>();
    ASSERT_TRUE(endpoint_->OpenGroup(world_.MakeBootstrap(0).get(), &state_->id).ok());
    state_->capabilities = &endpoint_->CapabilitiesOf(state_->id);
    engine_->ListenTo(state_.get());
    memory_.resize(kSegments * state_->capabilities->tuning.preferred_segment_bytes);
    served_.memory = memory_.data();
    served_.bytes = static_cast<int64_t>(memory_.size());
    page_.resize(MemberPage::BytesFor(1) / sizeof(Line) + 1);
    served_.page = MemberPage(page_.front().bytes, 1);
    endpoint_->lock = &served_.page.combining();
    context_.emplace(space_.get(), state_.get());
    inbox_.emplace(&*context_, &served_);
  }
  void TearDown() override { engine_->RemoveGroup(std::move(state_)); }

  // All of the memory.
  void Ask(RmaKind kind) {
    RmaFrame message;
    RmaHeader& header = message.header;
    header.kind = kind;
    header.op = static_cast<uint8_t>(CombineOp::kNoOp);
    header.element = kind == RmaKind::kFetch ? Element::kInt64 : Element::kByte;
    header.bytes = served_.bytes;
    header.TakeUnstaged();
    ASSERT_TRUE(inbox_->Take(0, message).ok());
  }
  bool Advance() {
    bool any = false;
    EXPECT_TRUE(inbox_->Advance(&any).ok());
    return any;
  }

  struct alignas(kCacheLineBytes) Line {
    std::byte bytes[kCacheLineBytes] = {};
  };
  InprocWorld world_{1};
  std::unique_ptr<Endpoint> owned_;
  LookingEndpoint* endpoint_ = nullptr;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<GroupState> state_;
  std::vector<std::byte> memory_;
  std::vector<Line> page_;
  ServedWindow served_;
  std::optional<MessageContext> context_;
  std::optional<Inbox> inbox_;
};

// Others combine in between, however long the way takes.
TEST_F(InboxTest, EachSegmentOfAFetchIsReadUnderItsOwnLock) {
  Ask(RmaKind::kFetch);
  EXPECT_TRUE(Advance());
  EXPECT_EQ(endpoint_->seen, ".p.p.p.p.p");
  EXPECT_FALSE(inbox_->has_work());
  EXPECT_EQ(inbox_->done_for(0), 1U);
}

TEST_F(InboxTest, AFetchWaitsForTheAccumulateLock) {
  ASSERT_TRUE(endpoint_->lock->TryLock(kAnother));
  Ask(RmaKind::kFetch);
  EXPECT_FALSE(Advance());
  EXPECT_EQ(endpoint_->seen, ".");
  EXPECT_EQ(endpoint_->lock->holder(), kAnother);
  endpoint_->lock->Unlock();
  EXPECT_TRUE(Advance());
  EXPECT_EQ(endpoint_->seen, ".p.p.p.p.p");
}

TEST_F(InboxTest, AGetWaitsForNoLock) {
  ASSERT_TRUE(endpoint_->lock->TryLock(kAnother));
  Ask(RmaKind::kGet);
  EXPECT_TRUE(Advance());
  EXPECT_EQ(endpoint_->seen, ".-.-.-.-.-");
  EXPECT_EQ(endpoint_->lock->holder(), kAnother);
}

TEST_F(InboxTest, ASegmentWhosePlaceOverflowsIsRefused) {
  RmaFrame message(RmaKind::kPut);
  message.header.offset = INT64_MAX - 4;
  message.header.bytes = 8;
  message.header.token = 8;  // a segment behind it
  EXPECT_EQ(inbox_->Take(0, message).code(), StatusCode::kMismatch);
}

// A progress thread sleeps between such steps.
TEST_F(InboxTest, AReplyThatCannotBeSentIsNoProgress) {
  for (const RmaKind kind : {RmaKind::kGet, RmaKind::kFetch}) {
    endpoint_->is_full = true;
    Ask(kind);
    for (int looks = 0; looks < 3; ++looks) EXPECT_FALSE(Advance());
    EXPECT_EQ(endpoint_->lock->holder(), -1);
    endpoint_->is_full = false;
    EXPECT_TRUE(Advance());
    EXPECT_FALSE(inbox_->has_work());
  }
}

}  // namespace
}  // namespace brigade
