#include "transport/tcp/link/connection.h"

#include <vector>

#include "transport/tcp/link/link_fixture.h"

namespace brigade::tcp {
namespace {

using ConnectionTest = LinkFixture;

TEST_F(ConnectionTest, SaysGoodbyeOnce) {
  Connection* const connection = Connect(/*by_peer=*/true);
  EXPECT_TRUE(connection->idle());
  connection->SayGoodbye();
  EXPECT_FALSE(connection->idle());
  connection->Pump();
  EXPECT_TRUE(connection->idle());
  // A peer that connects while this rank leaves has it asked again.
  connection->SayGoodbye();
  EXPECT_TRUE(connection->idle());
  connection->Pump();
  const std::vector<Frame> heard = Heard(0);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, FrameKind::kBye);
}

// Whoever leaves would otherwise wait for a goodbye that cannot be said.
TEST_F(ConnectionTest, WhatIsSaidStaysSoThoughThePeerIsGone) {
  Connection* const connection = Connect(/*by_peer=*/true);
  connection->SayGoodbye();
  connection->Pump();
  EndPeer(0);
  connection->SayGoodbye();
  connection->Pump();
  EXPECT_TRUE(connection->idle());
}

TEST_F(ConnectionTest, NothingFollowsAGoodbye) {
  Connection* const connection = Connect(/*by_peer=*/true);
  link_.outbox()->AddNotice(FrameKind::kClosed, 0, 1);
  connection->SayGoodbye();
  link_.outbox()->AddNotice(FrameKind::kClosed, 1, 1);
  connection->Pump();
  link_.outbox()->AddNotice(FrameKind::kClosed, 2, 1);
  connection->Pump();
  std::vector<FrameKind> kinds;
  for (const Frame& frame : Heard(0)) kinds.push_back(frame.kind);
  EXPECT_EQ(kinds,
            (std::vector<FrameKind>{FrameKind::kClosed, FrameKind::kClosed, FrameKind::kBye}));
}

}  // namespace
}  // namespace brigade::tcp
