// The states of a link, over sockets that lead to this process.

#include "transport/tcp/link/link.h"

#include <chrono>

#include "transport/tcp/link/link_fixture.h"

namespace brigade::tcp {
namespace {

class LinkTest : public LinkFixture {
 protected:
  const Link::Time now_ = std::chrono::steady_clock::now();
};

TEST_F(LinkTest, TheFirstConnectionIsSentOn) {
  EXPECT_EQ(link_.state(), Link::State::kIdle);
  EXPECT_EQ(link_.out(), nullptr);
  Connection* const first = Connect(/*by_peer=*/true);
  EXPECT_EQ(link_.state(), Link::State::kOpen);
  Connect(/*by_peer=*/true);
  EXPECT_EQ(link_.out(), first);
}

TEST_F(LinkTest, IsReachedWhenAConnectionIsEstablished) {
  link_.BecomeUnreached(now_);
  EXPECT_EQ(link_.unreached_since(), now_);
  Connection* const out = Connect(/*by_peer=*/false);
  EXPECT_EQ(link_.state(), Link::State::kUnreached) << "until the peer may have heard of it";
  EXPECT_FALSE(out->established());
  EXPECT_DEATH(link_.BecomeReached(), "established");
  link_.Pump();
  EXPECT_TRUE(out->established());
  link_.BecomeReached();
  EXPECT_EQ(link_.state(), Link::State::kOpen);
}

TEST_F(LinkTest, IsHalfBrokenWhileAnotherConnectionLives) {
  Connect(/*by_peer=*/true);
  Connect(/*by_peer=*/true);
  EXPECT_TRUE(link_.WhyBroken().ok());
  EXPECT_DEATH(link_.BecomeHalfBroken(now_), "broken");
  EndPeer(0);
  EXPECT_EQ(broken_, 1);
  EXPECT_EQ(link_.WhyBroken().code(), StatusCode::kPeerLost);
  EXPECT_TRUE(link_.HasLiveConnection());
  link_.BecomeHalfBroken(now_);
  EXPECT_EQ(link_.state(), Link::State::kHalfBroken);
  EXPECT_EQ(link_.half_broken_since(), now_);
  EXPECT_NE(link_.out(), nullptr);
  EndPeer(1);
  EXPECT_FALSE(link_.HasLiveConnection());
}

TEST_F(LinkTest, AnEstablishedConnectionIsNotReplaced) {
  Connect(/*by_peer=*/true);
  EndPeer(0);
  Status why;
  EXPECT_FALSE(link_.RemoveUnestablished(io_.get(), &why));
  EXPECT_NE(link_.out(), nullptr);
}

// Nothing was sent on it, so any other takes its place.
TEST_F(LinkTest, ALiveConnectionReplacesAnUnestablishedOne) {
  Connect(/*by_peer=*/false);
  Connect(/*by_peer=*/true);
  Connection* const live = Connect(/*by_peer=*/true);
  EndPeer(0);
  EndPeer(1);
  link_.Pump();  // the handshake cannot be sent
  Status why;
  EXPECT_TRUE(link_.RemoveUnestablished(io_.get(), &why));
  EXPECT_EQ(why.code(), StatusCode::kUnavailable);
  EXPECT_EQ(link_.out(), live);
  EXPECT_EQ(link_.connections().size(), 2u);
}

TEST_F(LinkTest, RemovingTheOnlyConnectionLeavesNone) {
  Connect(/*by_peer=*/false);
  EndPeer(0);
  link_.Pump();
  Status why;
  EXPECT_TRUE(link_.RemoveUnestablished(io_.get(), &why));
  EXPECT_EQ(link_.out(), nullptr);
  EXPECT_TRUE(link_.connections().empty());
}

TEST_F(LinkTest, TheSendingConnectionStaysWhenAnUnestablishedOneIsRemoved) {
  Connection* const out = Connect(/*by_peer=*/true);
  Connection* const other = Connect(/*by_peer=*/false);
  EndPeer(1);
  other->Pump();
  Status why;
  EXPECT_FALSE(link_.RemoveUnestablished(io_.get(), &why));
  EXPECT_EQ(link_.out(), out);
  EXPECT_EQ(link_.connections().size(), 1u);
}

TEST_F(LinkTest, AProtocolViolationTakesPrecedenceOverALostPeer) {
  for (int i = 0; i < 3; ++i) Connect(/*by_peer=*/true);
  EndPeer(0);
  EXPECT_EQ(link_.WhyBroken().code(), StatusCode::kPeerLost);
  const char nonsense[kFrameBytes + 1] = "GET / HTTP/1.1\r\n";
  ASSERT_EQ(send(peers_[1], nonsense, kFrameBytes, 0), static_cast<ssize_t>(kFrameBytes));
  EndPeer(2);
  EXPECT_EQ(link_.WhyBroken().code(), StatusCode::kInternal);
}

TEST_F(LinkTest, LostIsForGood) {
  Connect(/*by_peer=*/true);
  link_.BecomeLost(Status(StatusCode::kPeerLost, "gone"), io_.get());
  EXPECT_TRUE(link_.lost());
  EXPECT_EQ(link_.out(), nullptr);
  EXPECT_NE(link_.LostAs(3).message().find("rank 3 of the group"), std::string::npos);
  link_.DestroyConnections();
  EXPECT_TRUE(link_.connections().empty());
  EXPECT_DEATH(link_.BecomeUnreached(now_), "IsLegal");
  EXPECT_DEATH(link_.BecomeLost(Status(StatusCode::kPeerLost, "again"), io_.get()), "IsLegal");
  EXPECT_DEATH(Connect(/*by_peer=*/true), "lost");
}

TEST_F(LinkTest, AnOpenLinkIsUnreachedOnlyWithoutAConnection) {
  Connect(/*by_peer=*/true);
  EXPECT_DEATH(link_.BecomeUnreached(now_), "out_");
}

TEST_F(LinkTest, AHandshakeCountsOnce) {
  EXPECT_TRUE(link_.IsNewSerial(0));
  EXPECT_FALSE(link_.IsNewSerial(0));
  EXPECT_TRUE(link_.IsNewSerial(1));
}

}  // namespace
}  // namespace brigade::tcp
