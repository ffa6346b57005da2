#include "transport/tcp/link/connection.h"

#include <sys/socket.h>

#include <vector>

#include "membuf/strided_layout.h"
#include "transport/tcp/link/link_fixture.h"
#include "transport/tcp/link/stream.h"

namespace brigade::tcp {
namespace {

using ConnectionTest = LinkFixture;

TEST_F(ConnectionTest, SendsOneShutdownFrame) {
  Connection* const connection = Connect(/*by_peer=*/true);
  EXPECT_TRUE(connection->idle());
  connection->SendShutdown();
  EXPECT_FALSE(connection->idle());
  connection->Pump();
  EXPECT_TRUE(connection->idle());
  // A peer that connects while this rank leaves causes a second call.
  connection->SendShutdown();
  EXPECT_TRUE(connection->idle());
  connection->Pump();
  const std::vector<Frame> heard = Heard(0);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, FrameKind::kShutdown);
}

// A leaving rank would otherwise wait for a shutdown frame that cannot be sent.
TEST_F(ConnectionTest, AShutdownFrameCountsAsSentIfThePeerIsGone) {
  Connection* const connection = Connect(/*by_peer=*/true);
  connection->SendShutdown();
  connection->Pump();
  EndPeer(0);
  connection->SendShutdown();
  connection->Pump();
  EXPECT_TRUE(connection->idle());
}

TEST_F(ConnectionTest, AShutdownFrameIsTheLastFrame) {
  Connection* const connection = Connect(/*by_peer=*/true);
  link_.outbox()->AddNotice(FrameKind::kClosed, 0, 1);
  connection->SendShutdown();
  link_.outbox()->AddNotice(FrameKind::kClosed, 1, 1);
  connection->Pump();
  link_.outbox()->AddNotice(FrameKind::kClosed, 2, 1);
  connection->Pump();
  std::vector<FrameKind> kinds;
  for (const Frame& frame : Heard(0)) kinds.push_back(frame.kind);
  EXPECT_EQ(kinds,
            (std::vector<FrameKind>{FrameKind::kClosed, FrameKind::kClosed, FrameKind::kShutdown}));
}

// A sleeping rank must wake once there is room.
TEST_F(ConnectionTest, ARefusedSendIsRetriedWhenTheSocketHasRoom) {
  Connection* const connection = Connect(/*by_peer=*/true);
  Stream stream;
  stream.out.GrantAll();
  std::vector<std::byte> bytes(1000);
  const StridedLayout layout = StridedLayout::Contiguous(bytes.size());
  Completion sent([](Completion*) {});
  const auto send = [&] {
    size_t kept_bytes = 0;
    return connection->SendNow(&stream, ConstByteSpan(), {&layout, bytes.data(), 0, bytes.size()},
                               &sent, &kept_bytes);
  };
  while (send() == SentNow::kYes) continue;
  EXPECT_TRUE(connection->idle()) << "nothing is under way";
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(io_->Progress());
    EXPECT_EQ(send(), SentNow::kNotYet);
  }
  while (recv(peers_[0], bytes.data(), bytes.size(), 0) > 0) continue;
  EXPECT_TRUE(io_->Progress());
  EXPECT_FALSE(io_->Progress());
  EXPECT_EQ(send(), SentNow::kYes);
}

}  // namespace
}  // namespace brigade::tcp
