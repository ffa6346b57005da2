#include "transport/tcp/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

SocketAddress Loopback() {
  sockaddr_in in = {};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return SocketAddress::From(reinterpret_cast<const sockaddr*>(&in));
}

// A connection to a listener, seen from the other side.
class Caller {
 public:
  explicit Caller(const SocketAddress& to) : socket_(socket(to.family, SOCK_STREAM, 0)) {
    sockaddr_storage system;
    const socklen_t bytes = to.ToSystem(&system);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&system), bytes), 0)
        << std::strerror(errno);
  }
  Caller(Caller&& other) noexcept : socket_(other.socket_) { other.socket_ = -1; }
  ~Caller() { Close(); }

  void Say(const void* data, size_t bytes) {
    EXPECT_EQ(send(socket_, data, bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  void Say(const std::string& text) { Say(text.data(), text.size()); }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  // Waits until the other side has closed.
  void ExpectClosed() {
    char byte;
    EXPECT_LE(recv(socket_, &byte, 1, 0), 0);
  }

 private:
  int socket_;
};

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeRandom(&id_).ok());
    ASSERT_TRUE(MakeRandom(&key_).ok());
    ASSERT_TRUE(MakeRandom(&peer_).ok());
  }
  void TearDown() override {
    for (const int socket : admitted_) close(socket);
  }

  void Listen(const ListenerLimits& limits = ListenerLimits()) {
    const auto log = [this](const std::string& line) { log_.push_back(line); };
    const Status status = Listener::Create(Loopback(), id_, key_, log, &listener_, limits);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_NE(listener_->address().port, 0);
  }

  Caller Call() { return Caller(listener_->address()); }
  std::string Handshake(uint32_t serial) {
    std::string handshake(kHandshakeBytes, '\0');
    WriteHandshake(key_, peer_, id_, serial, reinterpret_cast<std::byte*>(&handshake[0]));
    return handshake;
  }

  bool Readable() {
    pollfd ready = {listener_->fd(), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
  bool Progress() {
    return listener_->Progress([this](int socket, const EndpointId& from, uint32_t serial) {
      EXPECT_TRUE(from == peer_);
      if (!wanted_) return false;
      admitted_.push_back(socket);
      serials_.push_back(serial);
      return true;
    });
  }
  // Sleeps at fd(), as a progress owner does, until a counter has a value.
  void Await(const uint64_t& counter, uint64_t value) {
    while (counter < value) {
      pollfd ready = {listener_->fd(), POLLIN, 0};
      ASSERT_EQ(poll(&ready, 1, -1), 1);
      Progress();
    }
    EXPECT_EQ(counter, value);
  }
  const Listener::Counters& counters() { return listener_->counters(); }

  EndpointId id_;
  EndpointId peer_;
  AuthKey key_;
  std::unique_ptr<Listener> listener_;
  bool wanted_ = true;
  std::vector<int> admitted_;
  std::vector<uint32_t> serials_;
  std::vector<std::string> log_;
};

TEST_F(ListenerTest, APeerIsLetIn) {
  Listen();
  EXPECT_FALSE(Readable());
  EXPECT_FALSE(Progress());
  Caller peer = Call();
  peer.Say(Handshake(41) + "x");
  Await(counters().admitted, 1);
  ASSERT_EQ(admitted_.size(), 1u);
  EXPECT_EQ(serials_[0], 41u);
  EXPECT_TRUE(log_.empty());
  EXPECT_NE(fcntl(admitted_[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(admitted_[0], F_GETFD) & FD_CLOEXEC, 0);
  // Bytes after the handshake are not consumed, and later ones do not go to the listener.
  char bytes[2] = {};
  EXPECT_EQ(recv(admitted_[0], bytes, 2, MSG_DONTWAIT), 1);
  EXPECT_EQ(bytes[0], 'x');
  peer.Say("y");
  EXPECT_FALSE(Readable());
  EXPECT_FALSE(Progress());
}

TEST_F(ListenerTest, AHandshakeMayComeInSegments) {
  Listen();
  Caller peer = Call();
  const std::string handshake = Handshake(1);
  for (size_t i = 0; i < handshake.size(); ++i) {
    EXPECT_EQ(counters().admitted, 0u);
    peer.Say(handshake.substr(i, 1));
    pollfd ready = {listener_->fd(), POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, -1), 1);
    EXPECT_TRUE(Progress());
  }
  EXPECT_EQ(counters().admitted, 1u);
  // It is authenticated.
  peer.Say("y");
  EXPECT_FALSE(Readable());
}

TEST_F(ListenerTest, TheListenerReadsNoByteAfterASplitHandshake) {
  Listen();
  Caller peer = Call();
  const std::string handshake = Handshake(1);
  peer.Say(handshake.substr(0, 40));
  while (!Progress()) {
  }
  peer.Say(handshake.substr(40) + "xyz");
  Await(counters().admitted, 1);
  char bytes[4] = {};
  EXPECT_EQ(recv(admitted_[0], bytes, sizeof(bytes), MSG_DONTWAIT), 3);
  EXPECT_STREQ(bytes, "xyz");
}

TEST_F(ListenerTest, ManyPeersAtOnce) {
  Listen();
  std::vector<Caller> peers;
  for (uint32_t i = 0; i < 200; ++i) {
    peers.push_back(Call());
    peers.back().Say(Handshake(i));
  }
  Await(counters().admitted, 200);
  std::sort(serials_.begin(), serials_.end());
  for (uint32_t i = 0; i < 200; ++i) EXPECT_EQ(serials_[i], i);
  EXPECT_FALSE(Readable());
}

TEST_F(ListenerTest, StrangersAreRefused) {
  Listen();
  AuthKey other;
  ASSERT_TRUE(MakeRandom(&other).ok());
  std::swap(key_, other);
  const std::string of_another_job = Handshake(1);
  std::swap(key_, other);
  uint64_t refused = 0;
  for (const std::string& text : {of_another_job, std::string(1000, 'x')}) {
    Caller stranger = Call();
    stranger.Say(text);
    Await(counters().refused, ++refused);
    stranger.ExpectClosed();
  }
  Caller stranger = Call();
  stranger.Say("half a hel");
  stranger.Close();
  Await(counters().refused, ++refused);
  EXPECT_TRUE(admitted_.empty());
  EXPECT_FALSE(Readable());
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_EQ(log_[0].find("a connection from 127.0.0.1:"), 0u) << log_[0];
  EXPECT_NE(log_[0].find("dropped: a handshake with a wrong authentication code"),
            std::string::npos)
      << log_[0];
}

TEST_F(ListenerTest, TheCalleeMayRefuseAPeer) {
  Listen();
  wanted_ = false;
  Caller peer = Call();
  peer.Say(Handshake(1));
  Await(counters().unwanted, 1);
  peer.ExpectClosed();
  EXPECT_EQ(counters().admitted, 0u);
  EXPECT_EQ(log_.size(), 1u);
}

TEST_F(ListenerTest, AConnectionWithoutAHandshakeIsClosed) {
  ListenerLimits limits;
  limits.handshake_time = std::chrono::milliseconds(30);
  Listen(limits);
  Caller stranger = Call();  // the kernel keeps this one to itself for a while
  Caller other = Call();
  other.Say("brigade");
  Await(counters().silent, 2);
  stranger.ExpectClosed();
  other.ExpectClosed();
  EXPECT_FALSE(Readable());
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_NE(log_[0].find("no whole handshake came within 30 ms"), std::string::npos) << log_[0];
}

TEST_F(ListenerTest, ManyUnauthenticatedConnectionsKeepNoPeerOut) {
  Listen();
  std::vector<Caller> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(Call());
    strangers.back().Say("x");
  }
  Await(counters().crowded, 36);
  strangers[0].ExpectClosed();
  strangers[35].ExpectClosed();
  Caller peer = Call();
  peer.Say(Handshake(1));
  Await(counters().admitted, 1);
  EXPECT_EQ(counters().crowded, 36u);
  EXPECT_FALSE(Readable());
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(ListenerTest, AWholeHandshakeIsReadBeforeItsConnectionIsEvicted) {
  ListenerLimits limits;
  limits.max_unauthenticated = 1;
  Listen(limits);
  Caller peer = Call();
  const std::string handshake = Handshake(1);
  peer.Say(handshake.substr(0, 40));
  while (!Progress()) {
  }
  // In any order of the two connections.
  Caller stranger = Call();
  stranger.Say("x");
  peer.Say(handshake.substr(40));
  Await(counters().admitted, 1);
  EXPECT_EQ(counters().crowded, 0u);
}

TEST_F(ListenerTest, LogsPowersOfTen) {
  Listen();
  for (uint64_t i = 1; i <= 101; ++i) {
    Caller stranger = Call();
    stranger.Say(std::string(kHandshakeBytes, 'x'));
    Await(counters().refused, i);
  }
  ASSERT_EQ(log_.size(), 3u);
  EXPECT_EQ(log_[0].find("so far"), std::string::npos) << log_[0];
  EXPECT_NE(log_[1].find("(10 times so far)"), std::string::npos) << log_[1];
  EXPECT_NE(log_[2].find("(100 times so far)"), std::string::npos) << log_[2];
}

TEST_F(ListenerTest, WaitsForAFreeDescriptor) {
  Listen();
  Caller peer = Call();
  peer.Say(Handshake(1));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Await(counters().starved, 1);
  // Sleeps at fd() are not interrupted...
  EXPECT_FALSE(Readable());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  // ...and it wakes up by itself.
  Await(counters().admitted, 1);
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_NE(log_[0].find("have to wait: accept: Too many open files"), std::string::npos)
      << log_[0];
}

TEST_F(ListenerTest, NamesTheLimitToRaise) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status status = Listener::Create(
      Loopback(), id_, key_, [](const std::string&) {}, &listener_);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "cannot listen on 127.0.0.1: socket: Too many open files; raise the limit on open "
            "files (ulimit -n)");
}

TEST_F(ListenerTest, AnAddressThatIsNotOursIsRefused) {
  SocketAddress elsewhere = Loopback();
  const uint8_t documentation[] = {198, 51, 100, 1};
  std::memcpy(elsewhere.bytes, documentation, sizeof(documentation));
  const Status status = Listener::Create(
      elsewhere, id_, key_, [](const std::string&) {}, &listener_);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("cannot listen on 198.51.100.1: bind: "), std::string::npos)
      << status.message();
  EXPECT_EQ(listener_, nullptr);
}

}  // namespace
}  // namespace brigade
