#include "test/support/endpoints/fault_endpoint.h"

#include <array>
#include <deque>
#include <vector>

#include "gtest/gtest.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

// One rank, which talks to itself on two channels.
class FaultEndpointTest : public ::testing::Test {
 protected:
  void Open(const FaultOptions& faults) {
    endpoint_ = MakeFaultEndpoint(world_.CreateEndpoint(0), faults);
    const Status status = endpoint_->OpenGroup(world_.MakeBootstrap(0).get(), &group_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  Status Send(ChannelKind kind, Completion* completion) {
    return endpoint_->PostSend(Channel{group_, kind}, 0, ConstByteSpan(), completion);
  }
  Status Receive(ChannelKind kind, Completion* completion) {
    return endpoint_->PostReceive(Channel{group_, kind}, 0, ByteSpan(), completion);
  }

  static InprocOptions InPlace() {
    InprocOptions options;
    options.sends_in_place = true;
    return options;
  }

  InprocWorld world_{1, InPlace()};
  std::unique_ptr<Endpoint> endpoint_;
  GroupId group_ = -1;
};

TEST_F(FaultEndpointTest, RefusesItsShareOfPosts) {
  FaultOptions faults;
  faults.no_resource = 0.25;
  Open(faults);
  std::deque<Completion> completions;
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    completions.emplace_back([](Completion*) {});
    const Status status = Receive(ChannelKind::kRow, &completions.back());
    if (status.ok()) continue;
    ASSERT_EQ(status.code(), StatusCode::kNoResource);
    ++refused;
  }
  EXPECT_GT(refused, 900);
  EXPECT_LT(refused, 1100);
}

TEST_F(FaultEndpointTest, ASeedRepeatsItsFaults) {
  const auto refusals = [](uint64_t seed) {
    InprocWorld world(1);
    FaultOptions faults;
    faults.seed = seed;
    faults.no_resource = 0.5;
    const auto endpoint = MakeFaultEndpoint(world.CreateEndpoint(0), faults);
    GroupId group = -1;
    EXPECT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &group).ok());
    std::deque<Completion> completions;
    std::vector<bool> refused;
    for (int i = 0; i < 100; ++i) {
      completions.emplace_back([](Completion*) {});
      const Channel channel{group, ChannelKind::kRow};
      refused.push_back(!endpoint->PostReceive(channel, 0, ByteSpan(), &completions.back()).ok());
    }
    endpoint->CloseGroup(group);
    return refused;
  };
  EXPECT_EQ(refusals(1), refusals(1));
  EXPECT_NE(refusals(1), refusals(2));
  EXPECT_EQ(refusals(FaultOptions().seed), refusals(1));
}

TEST_F(FaultEndpointTest, DisturbsSendsFromUserMemory) {
  struct Send : Completion {
    explicit Send(std::vector<const Send*>* l)
        : Completion([](Completion* c) {
            auto* self = static_cast<Send*>(c);
            self->log->push_back(self);
          }),
          log(l) {}
    std::vector<const Send*>* log;
  };
  FaultOptions faults;
  faults.no_resource = 0.25;
  faults.max_delay = 5;
  Open(faults);
  const Channel channel{group_, ChannelKind::kRow};
  const StridedLayout layout = StridedLayout::Contiguous(sizeof(int));
  std::vector<const Send*> ended;
  std::deque<Send> sends;
  std::deque<Completion> received;
  std::deque<std::array<int, 2>> receive_buffers;  // head and body
  int number = 0;
  int answers[3] = {};
  for (int i = 0; i < 4000; ++i) {
    size_t kept_bytes = 0;
    const LayoutRange range{&layout, reinterpret_cast<std::byte*>(&number), 0, sizeof(number)};
    const int before = -number;
    const ConstByteSpan head(reinterpret_cast<const std::byte*>(&before), sizeof(before));
    const SentNow sent =
        endpoint_->SendNow(channel, 0, head, range, &sends.emplace_back(&ended), &kept_bytes);
    ++answers[static_cast<int>(sent)];
    if (sent == SentNow::kYes) {
      ++number;
      EXPECT_EQ(kept_bytes, 2 * sizeof(int));
      receive_buffers.push_back({1, -1});
      const ByteSpan receive_buffer{reinterpret_cast<std::byte*>(&receive_buffers.back()),
                                    2 * sizeof(int)};
      received.emplace_back([](Completion*) {});
      while (!endpoint_->PostReceive(channel, 0, receive_buffer, &received.back()).ok()) {
      }
    } else {
      sends.pop_back();
    }
    endpoint_->Progress();
  }
  while (ended.size() < sends.size()) endpoint_->Progress();
  for (size_t i = 0; i < sends.size(); ++i) {
    EXPECT_EQ(ended[i], &sends[i]);
    EXPECT_EQ(receive_buffers[i][0], -static_cast<int>(i));
    EXPECT_EQ(receive_buffers[i][1], static_cast<int>(i));
  }
  for (const int share : answers) EXPECT_GT(share, 400);
}

TEST_F(FaultEndpointTest, ReordersAcrossStreamsOnly) {
  struct Numbered : Completion {
    Numbered(ChannelKind k, int n, std::vector<Numbered*>* l)
        : Completion([](Completion* c) {
            auto* self = static_cast<Numbered*>(c);
            self->log->push_back(self);
          }),
          kind(k),
          number(n),
          log(l) {}
    ChannelKind kind;
    int number;
    std::vector<Numbered*>* log;
  };
  FaultOptions faults;
  faults.max_delay = 10;
  Open(faults);
  std::vector<Numbered*> log;
  std::deque<Numbered> received;
  std::deque<Completion> sent;
  constexpr int kSegments = 100;
  for (int i = 0; i < kSegments; ++i) {
    for (ChannelKind kind : {ChannelKind::kRow, ChannelKind::kColumn}) {
      received.emplace_back(kind, i, &log);
      ASSERT_TRUE(Receive(kind, &received.back()).ok());
      sent.emplace_back([](Completion*) {});
      ASSERT_TRUE(Send(kind, &sent.back()).ok());
    }
  }
  endpoint_->Progress();
  EXPECT_LT(log.size(), received.size()) << "nothing was delayed";
  while (log.size() < received.size()) endpoint_->Progress();
  int next[kChannelKinds] = {};
  bool changed_places = false;
  for (const Numbered* operation : log) {
    const int kind = static_cast<int>(operation->kind);
    EXPECT_EQ(operation->number, next[kind]++);
    changed_places |= operation->kind == ChannelKind::kRow &&
                      next[static_cast<int>(ChannelKind::kColumn)] > operation->number + 1;
  }
  EXPECT_TRUE(changed_places);
}

TEST_F(FaultEndpointTest, LosesAPeerAfterSomePosts) {
  FaultOptions faults;
  faults.lose = [this] { world_.MarkLost(0); };
  faults.lose_after_posts = 2;
  Open(faults);
  Completion received([](Completion*) {});
  Completion sent([](Completion*) {});
  Completion late([](Completion*) {});
  ASSERT_TRUE(Receive(ChannelKind::kRow, &received).ok());
  ASSERT_TRUE(Send(ChannelKind::kColumn, &sent).ok());
  EXPECT_EQ(Send(ChannelKind::kRow, &late).code(), StatusCode::kPeerLost);
  while (endpoint_->Progress()) {
  }
  EXPECT_EQ(received.status.code(), StatusCode::kPeerLost);
  EXPECT_EQ(sent.status.code(), StatusCode::kPeerLost);
}

TEST_F(FaultEndpointTest, DelaysControlMessagesAndKeepsTheirOrder) {
  struct Noting final : ControlHandler {
    void OnControl(int, ConstByteSpan message) override {
      numbers.push_back(std::to_integer<int>(message.data[0]));
    }
    std::vector<int> numbers;
  } handler;
  FaultOptions faults;
  faults.no_resource = 0.3;
  faults.max_delay = 10;
  Open(faults);
  endpoint_->SetControlHandler(group_, &handler);
  int refused = 0;
  constexpr int kControls = 100;
  for (int i = 0; i < kControls;) {
    const std::byte message{static_cast<unsigned char>(i)};
    const Urgency urgency = i % 2 == 0 ? Urgency::kUrgent : Urgency::kCanWait;
    const Status status = endpoint_->SendControl(group_, 0, {&message, 1}, urgency);
    if (status.ok()) {
      ++i;
      continue;
    }
    ASSERT_EQ(status.code(), StatusCode::kNoResource);
    ASSERT_EQ(urgency, Urgency::kCanWait);
    ++refused;
    endpoint_->Progress();
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(handler.numbers.size(), size_t{kControls}) << "nothing was delayed";
  while (handler.numbers.size() < kControls) endpoint_->Progress();
  for (int i = 0; i < kControls; ++i) EXPECT_EQ(handler.numbers[static_cast<size_t>(i)], i);
}

TEST_F(FaultEndpointTest, ClosingTakesBackDelayedCallbacks) {
  FaultOptions faults;
  faults.max_delay = 1000;
  Open(faults);
  Completion received([](Completion*) { FAIL() << "the group is closed"; });
  bool over = false;
  struct Sent : Completion {
    explicit Sent(bool* o)
        : Completion([](Completion* c) { *static_cast<Sent*>(c)->over = true; }), over(o) {}
    bool* over;
  } sent(&over);
  ASSERT_TRUE(Receive(ChannelKind::kRow, &received).ok());
  ASSERT_TRUE(Send(ChannelKind::kRow, &sent).ok());
  endpoint_->Progress();  // both are over below, and reported to nobody
  ASSERT_FALSE(over);
  endpoint_->CloseGroup(group_);
  while (!over) endpoint_->Progress();
  EXPECT_TRUE(sent.status.ok());
}

// Closing a group releases the lease of a receive whose callback is cancelled.
TEST_F(FaultEndpointTest, ClosingGivesLeasesBack) {
  InprocOptions peer_memory;
  peer_memory.lands_in_peer_memory = true;
  InprocWorld world(1, peer_memory);
  FaultOptions faults;
  faults.max_delay = 1000;
  faults.seed = 3;
  const auto endpoint = MakeFaultEndpoint(world.CreateEndpoint(0), faults);
  Channel channel{-1, ChannelKind::kRow};
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &channel.group).ok());
  static bool over;
  over = false;
  Completion received([](Completion*) { FAIL() << "the group is closed"; });
  Completion sent([](Completion*) { over = true; });
  std::byte memory[2] = {};
  ASSERT_TRUE(endpoint->PostReceive(channel, 0, ByteSpan{memory + 1, 1}, &received).ok());
  ASSERT_TRUE(endpoint->PostSend(channel, 0, ConstByteSpan(memory, 1), &sent).ok());
  endpoint->Progress();
  endpoint->CloseGroup(channel.group);
  for (int i = 0; i < 2000 && !over; ++i) endpoint->Progress();
  EXPECT_TRUE(over);
}

TEST_F(FaultEndpointTest, ClosingAGroupLeavesTheOthersAlone) {
  FaultOptions faults;
  faults.max_delay = 1000;
  Open(faults);
  const GroupId closed = group_;
  ASSERT_TRUE(endpoint_->OpenGroup(world_.MakeBootstrap(0).get(), &group_).ok());
  static bool over;
  over = false;
  Completion received([](Completion*) { over = true; });
  Completion sent([](Completion*) {});
  ASSERT_TRUE(Receive(ChannelKind::kRow, &received).ok());
  ASSERT_TRUE(Send(ChannelKind::kRow, &sent).ok());
  endpoint_->Progress();
  endpoint_->CloseGroup(closed);
  for (int i = 0; i < 2000 && !over; ++i) endpoint_->Progress();
  EXPECT_TRUE(over);
}

}  // namespace
}  // namespace brigade
