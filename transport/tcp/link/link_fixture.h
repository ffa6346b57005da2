// LinkFixture: a link over sockets of this process. For tests.

#ifndef BRIGADE_TRANSPORT_TCP_LINK_LINK_FIXTURE_H_
#define BRIGADE_TRANSPORT_TCP_LINK_LINK_FIXTURE_H_

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/link/connection.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

class LinkFixture : public ::testing::Test, private ConnectionOwner {
 protected:
  void SetUp() override { ASSERT_TRUE(CreatePlainIo(&io_).ok()); }
  void TearDown() override {
    for (const auto& connection : link_.connections()) io_->Remove(connection.get());
    for (const int socket : peers_) close(socket);
  }

  // Adds a connection. If the peer has opened it, it is established; otherwise once its handshake
  // has left.
  Connection* Connect(bool by_peer) {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
    peers_.push_back(sockets[1]);
    std::vector<std::byte> handshake(by_peer ? 0 : kHandshakeBytes);
    auto connection =
        std::make_unique<Connection>(sockets[0], &link_, link_.outbox(), std::move(handshake),
                                     io_.get(), static_cast<ConnectionOwner*>(this));
    EXPECT_TRUE(io_->Add(connection.get()).ok());
    Connection* const added = connection.get();
    link_.Add(std::move(connection));
    return added;
  }
  // Ends the peer's side of the `n`-th connection.
  void EndPeer(size_t n) {
    shutdown(peers_[n], SHUT_RDWR);
    while (io_->Progress()) {
    }
  }
  // Returns the frames, without segments, that the peer has received on the `n`-th connection since
  // the last call.
  std::vector<Frame> Heard(size_t n) {
    std::vector<Frame> frames;
    std::byte bytes[kFrameBytes];
    while (recv(peers_[n], bytes, kFrameBytes, 0) == static_cast<ssize_t>(kFrameBytes)) {
      frames.emplace_back();
      EXPECT_TRUE(ReadFrame(bytes, 0, &frames.back()).ok());
    }
    return frames;
  }

  Status FindStream(Link*, const Frame&, Stream**) override { return Status(); }
  void OnDropped(Stream*) override {}
  void OnArrival(Stream*, const ReceiveStream::Arrival&) override {}
  void OnSent(Stream*, Completion*, const Status&) override {}
  Status OnControl(Link*, const Frame&, ConstByteSpan) override { return Status(); }
  void OnFrames(Link*) override {}
  void OnShutdown(Link*) override {}
  void OnBroken(Link*) override { ++broken_; }

  std::unique_ptr<SocketIo> io_;
  Link link_{EndpointId(), AuthKey(), SocketAddress()};
  std::vector<int> peers_;
  int broken_ = 0;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LINK_LINK_FIXTURE_H_
