#include "patterns/engine/match_check.h"

#include <chrono>
#include <cstring>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "patterns/engine/match_timer.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

// Keeps the last control message, and shows messages that never came.
class FakeEndpoint : public ForwardingEndpoint {
 public:
  explicit FakeEndpoint(InprocWorld* world) : ForwardingEndpoint(world->CreateEndpoint(0)) {}
  Status SendControl(GroupId, int peer, ConstByteSpan message, Urgency) override {
    sent_to = peer;
    sent.assign(reinterpret_cast<const char*>(message.data), message.bytes);
    return Status();
  }
  size_t PeekUnexpected(const Channel&, int peer, ByteSpan head) override {
    const auto message = unread.find(peer);
    if (message == unread.end()) return 0;
    std::memcpy(head.data, &message->second, sizeof(WireHeader));
    return sizeof(WireHeader);
  }
  int sent_to = -1;
  std::string sent;
  std::map<int, WireHeader> unread;
};

// A rank of a grid of 2 x 2.
struct Rank {
  explicit Rank(int rank) {
    state.rank = rank;
    state.rows = state.cols = 2;
    state.scopes[0] = state.scopes[static_cast<int>(ChannelKind::kAll)] = {4, rank, 0, 1};
    state.scopes[static_cast<int>(ChannelKind::kRow)] = {2, rank % 2, rank / 2 * 2, 1};
    state.scopes[static_cast<int>(ChannelKind::kColumn)] = {2, rank / 2, rank % 2, 2};
  }
  // Makes a call, in which it waits for `peer` if that is one.
  WaitingCall Make(ChannelKind kind, Pattern pattern, int root = 0, int peer = -1) {
    uint64_t& sequence = state.scope_sequence[static_cast<int>(kind)];
    WireHeader header;
    header.pattern = static_cast<uint8_t>(pattern);
    header.root = root;
    header.sequence = static_cast<uint32_t>(sequence++);
    state.history(kind)->Put(header);
    return {&state, kind, header, &schedule, peer};
  }
  GroupState state;
  Schedule schedule;
};

class MatchCheck : public testing::Test {
 protected:
  // Why member 1 breaks the group at a query of member 0; empty if it does not.
  std::string Ask(const WaitingCall& call) {
    EXPECT_TRUE(CheckMatch(&endpoint_, call).ok());
    EXPECT_EQ(endpoint_.sent_to, 1);
    return Answer(endpoint_.sent);
  }
  std::string Answer(const std::string& message) {
    const auto abort = AnswerEnquiry(
        one_.state, 0, {reinterpret_cast<const std::byte*>(message.data()), message.size()});
    if (!abort) return "";
    EXPECT_EQ(abort->rank, 1);
    EXPECT_EQ(abort->code, StatusCode::kMismatch);
    EXPECT_LE(abort->text.size(), Abort::kMostTextBytes);
    return abort->text;
  }

  InprocWorld world_{1, InprocOptions()};
  FakeEndpoint endpoint_{&world_};
  Rank zero_{0};
  Rank one_{1};
};

TEST_F(MatchCheck, CallsOfTheSameNumberThatDifferAreNamed) {
  const WaitingCall call = zero_.Make(ChannelKind::kAll, Pattern::kBroadcast, 1, 1);
  one_.Make(ChannelKind::kAll, Pattern::kBroadcast, 0);
  EXPECT_EQ(Ask(call),
            "the ranks' calls differ in the root: rank 0 called broadcast number 0 (1), rank 1 "
            "called broadcast number 0 (0)");
  // Though it has gone on.
  for (int i = 0; i < 7; ++i) one_.Make(ChannelKind::kAll, Pattern::kBarrier);
  EXPECT_NE(Ask(call), "");
  // It does not remember that one.
  one_.Make(ChannelKind::kAll, Pattern::kBarrier);
  EXPECT_EQ(Ask(call), "");
}

TEST_F(MatchCheck, ALateRankIsNoMismatch) {
  one_.Make(ChannelKind::kAll, Pattern::kBroadcast);
  zero_.Make(ChannelKind::kAll, Pattern::kBroadcast);
  const WaitingCall call = zero_.Make(ChannelKind::kAll, Pattern::kBarrier, 0, 1);
  EXPECT_EQ(Ask(call), "");
  // It waits in a call that rank 0 has made, or does not need.
  one_.state.long_wait = LongWait{ChannelKind::kAll, 0, 0};
  EXPECT_EQ(Ask(call), "");
  one_.Make(ChannelKind::kColumn, Pattern::kBarrier);
  one_.state.long_wait = LongWait{ChannelKind::kColumn, 0, 3};
  EXPECT_EQ(Ask(call), "");
}

TEST_F(MatchCheck, ARankThatWaitsForAReceiveComparesCallsOnly) {
  WaitingCall call = zero_.Make(ChannelKind::kAll, Pattern::kScatter, 0, 1);
  call.compares_only = true;
  one_.Make(ChannelKind::kAll, Pattern::kScatter, 1);
  EXPECT_NE(Ask(call), "");
  EXPECT_FALSE(zero_.state.long_wait.has_value());
  WaitingCall next = zero_.Make(ChannelKind::kRow, Pattern::kBroadcast, 0, 1);
  one_.state.long_wait = LongWait{ChannelKind::kAll, 1, 0};
  one_.Make(ChannelKind::kAll, Pattern::kBarrier);
  ASSERT_NE(Ask(next), "") << "which waits for a message";
  next.compares_only = true;
  EXPECT_EQ(Ask(next), "");
}

TEST_F(MatchCheck, CallsOfTwoScopesInDifferentOrders) {
  const WaitingCall call = zero_.Make(ChannelKind::kRow, Pattern::kBarrier, 0, 1);
  one_.Make(ChannelKind::kAll, Pattern::kAllReduce);
  // Wherever it waits in it, rank 0 has to come.
  one_.state.long_wait = LongWait{ChannelKind::kAll, 0, 3};
  EXPECT_EQ(Ask(call),
            "the ranks' calls come in different orders: rank 0 waits in barrier number 0 of scope "
            "row, rank 1 waits in all_reduce number 0 of scope all, each for the other");
  zero_.Make(ChannelKind::kAll, Pattern::kAllReduce);  // started before
  EXPECT_EQ(Ask(call), "");
}

TEST_F(MatchCheck, ReceivesOfTwoRanksFromEachOther) {
  WireHeader header;
  header.pattern = static_cast<uint8_t>(Pattern::kSend);
  const WaitingCall call{&zero_.state, ChannelKind::kPointToPoint, header, &zero_.schedule, 1};
  one_.state.long_wait = LongWait{ChannelKind::kPointToPoint, 0, 0};
  EXPECT_EQ(Ask(call),
            "the ranks' calls come in different orders: rank 0 waits in receive number 0, rank 1 "
            "waits in receive number 0, each for the other");
  zero_.state.send_sequence = {0, 1, 0, 0};  // it comes
  EXPECT_EQ(Ask(call), "");
}

TEST_F(MatchCheck, MalformedEnquiriesAreIgnored) {
  const WaitingCall call = zero_.Make(ChannelKind::kAll, Pattern::kBroadcast, 1, 1);
  one_.Make(ChannelKind::kAll, Pattern::kBroadcast, 0);
  ASSERT_NE(Ask(call), "");
  std::string message = endpoint_.sent;
  EXPECT_EQ(Answer(message.substr(0, 47)), "");
  message[1] = 4;  // the channel
  EXPECT_EQ(Answer(message), "");
  message[1] = 3;
  message[2] = kPatterns;
  EXPECT_EQ(Answer(message), "");
}

TEST_F(MatchCheck, MessagesOfOtherCalls) {
  const auto find = [&](const WaitingCall& call) {
    return FindUnexpected(&endpoint_, call).message();
  };
  const WaitingCall first = zero_.Make(ChannelKind::kAll, Pattern::kBroadcast, 1, 1);
  Rank three(3);
  endpoint_.unread[3] = three.Make(ChannelKind::kAll, Pattern::kBroadcast, 1).header;
  EXPECT_EQ(find(first), "");  // the same call
  endpoint_.unread[3] = three.Make(ChannelKind::kAll, Pattern::kBarrier).header;
  EXPECT_EQ(find(first), "");  // it is ahead
  const WaitingCall second = zero_.Make(ChannelKind::kAll, Pattern::kBroadcast, 1, 1);
  EXPECT_NE(find(second).find("differ in the pattern: rank 0 called broadcast number 1, rank 3 "
                              "called barrier number 1"),
            std::string::npos);
  // Of an earlier call.
  const WaitingCall third = zero_.Make(ChannelKind::kAll, Pattern::kBarrier, 0, 1);
  EXPECT_NE(find(third), "");
  // Where this rank receives from that one there may be no header.
  Step step;
  step.peer = 3;
  zero_.schedule.lanes.resize(1);
  zero_.schedule.lanes[0].receives.push_back(step);
  EXPECT_EQ(find(third), "");
}

TEST(MatchTimer, AsksEverMoreRarely) {
  MatchTimer timer(1);
  const MatchTimer::Time begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(timer.IsDue(begin));
  timer.Start(begin);
  int asked = 0;
  for (int s = 0; s < 3600; ++s) asked += timer.IsDue(begin + std::chrono::seconds(s)) ? 1 : 0;
  EXPECT_EQ(asked, 5 + (3600 - 31) / 32);
  timer.Reset();
  EXPECT_FALSE(timer.IsDue(begin + std::chrono::hours(2)));
}

}  // namespace
}  // namespace brigade
