// Both implementations, over real sockets.

#include "transport/tcp/io/socket_io.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// One end of a connection, which writes and reads on a test's request.
class End : public IoSocket {
 public:
  explicit End(int socket) : IoSocket(socket) {}
  int ReadTargets(iovec targets[2]) override {
    ++asked;
    targets[0] = {where, room};
    targets[1] = {overflow, sizeof(overflow)};
    return room > 0 ? 2 : (targets[0] = targets[1], 1);
  }
  void OnRead(ssize_t result) override {
    reads.push_back(result);
    if (result > 0) {
      const size_t direct = std::min(room, static_cast<size_t>(result));
      came.append(static_cast<const char*>(where), direct);
      came.append(overflow, static_cast<size_t>(result) - direct);
    }
  }
  void OnWritten(ssize_t result) override { writes.push_back(result); }

  char own[100];
  void* where = own;
  size_t room = sizeof(own);
  char overflow[100];
  std::string came;
  std::vector<ssize_t> reads;
  std::vector<ssize_t> writes;
  int asked = 0;
};

using Create = Status (*)(std::unique_ptr<SocketIo>*);

class SocketIoTest : public ::testing::TestWithParam<Create> {
 protected:
  void SetUp() override {
    const Status status = GetParam()(&io_);
    if (status.code() == StatusCode::kUnavailable) GTEST_SKIP() << status.ToString();
    ASSERT_TRUE(status.ok()) << status.ToString();
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
    near_ = std::make_unique<End>(sockets[0]);
    far_ = sockets[1];
    ASSERT_TRUE(io_->Add(near_.get()).ok());
  }
  void TearDown() override {
    if (near_ == nullptr) return;
    io_->Remove(near_.get());
    close(far_);
  }
  static bool has_ring() { return GetParam() == &CreateUringIo; }
  // Until `over`, with a sleep where nothing happens.
  template <typename Over>
  void ProgressUntil(const Over& over) {
    while (!over()) {
      if (!io_->Progress()) io_->Await(100000);
    }
  }
  std::string TakeFromFar(size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
      char buffer[65536];
      const ssize_t n = recv(far_, buffer, sizeof(buffer), 0);
      if (n > 0) {
        all.append(buffer, static_cast<size_t>(n));
      } else if (!io_->Progress()) {
        io_->Await(1000);
      }
    }
    return all;
  }

  std::unique_ptr<SocketIo> io_;
  std::unique_ptr<End> near_;
  int far_ = -1;
};

std::string Text(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 31 % 26);
  return text;
}

TEST_P(SocketIoTest, ReadsToTheTargetsInOrder) {
  const std::string text = Text(150);
  ASSERT_EQ(send(far_, text.data(), text.size(), 0), 150);
  ProgressUntil([&] { return near_->came.size() == text.size(); });
  EXPECT_EQ(near_->came, text);
}

TEST_P(SocketIoTest, ShortWritesGoAtOnce) {
  const std::string text = Text(150);
  const iovec ranges[2] = {{const_cast<char*>(text.data()), 50},
                           {const_cast<char*>(text.data()) + 50, 100}};
  EXPECT_EQ(io_->Write(near_.get(), ranges, 2), 150);
  EXPECT_EQ(TakeFromFar(150), text);
}

TEST_P(SocketIoTest, ALongWriteGoesOnWhenThereIsRoom) {
  const std::string text = Text(3000000);
  size_t sent = 0;
  while (sent < text.size()) {
    const iovec range{const_cast<char*>(text.data()) + sent, text.size() - sent};
    ssize_t written = io_->Write(near_.get(), &range, 1);
    std::string taken;
    if (written == SocketIo::kPending) {
      while (near_->writes.empty()) {
        taken += TakeFromFar(1);
        io_->Progress();
      }
      written = near_->writes.back();
      near_->writes.clear();
    }
    ASSERT_GT(written, 0);
    taken += TakeFromFar(static_cast<size_t>(written) - taken.size());
    EXPECT_EQ(taken, text.substr(sent, static_cast<size_t>(written)));
    sent += static_cast<size_t>(written);
  }
}

// Where nothing is under way, too, and once.
TEST_P(SocketIoTest, NotifiesOfRoomOnce) {
  const std::string text = Text(100000);
  const iovec range{const_cast<char*>(text.data()), text.size()};
  while (SocketIo::WriteNow(*near_, &range, 1) != -EAGAIN) continue;
  EXPECT_EQ(io_->AwaitRoom(near_.get()), 0);
  EXPECT_EQ(io_->AwaitRoom(near_.get()), 0);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(io_->Progress()) << "it is full";
  char taken[65536];
  while (recv(far_, taken, sizeof(taken), 0) > 0) continue;
  io_->Await(100000);
  EXPECT_TRUE(io_->Progress());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(io_->Progress()) << "it has been told";
  EXPECT_TRUE(near_->writes.empty());
}

TEST_P(SocketIoTest, AWriteMayFollowWhereRoomIsAwaited) {
  const std::string text = Text(100000);
  const iovec range{const_cast<char*>(text.data()), text.size()};
  while (SocketIo::WriteNow(*near_, &range, 1) != -EAGAIN) continue;
  EXPECT_EQ(io_->AwaitRoom(near_.get()), 0);
  EXPECT_EQ(io_->Write(near_.get(), &range, 1), SocketIo::kPending);
  char taken[65536];
  while (recv(far_, taken, sizeof(taken), 0) > 0) continue;
  ProgressUntil([&] { return !near_->writes.empty(); });
  EXPECT_EQ(near_->writes, std::vector<ssize_t>{100000});
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(io_->Progress());
}

TEST_P(SocketIoTest, TheEndOfAStreamIsReportedOnce) {
  ASSERT_EQ(shutdown(far_, SHUT_WR), 0);
  ProgressUntil([&] { return !near_->reads.empty(); });
  for (int i = 0; i < 100; ++i) io_->Progress();
  EXPECT_EQ(near_->reads, std::vector<ssize_t>{0});
  EXPECT_FALSE(io_->Progress());
}

// A socket at its end is added to epoll again for room, which the system may refuse.
TEST_P(SocketIoTest, AwaitRoomReturnsTheErrorOfTheSystem) {
  ASSERT_EQ(shutdown(far_, SHUT_WR), 0);
  ProgressUntil([&] { return !near_->reads.empty(); });
  const int unpollable = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(dup3(unpollable, near_->socket(), O_CLOEXEC), near_->socket());
  close(unpollable);
  EXPECT_EQ(io_->AwaitRoom(near_.get()), -EPERM);
  EXPECT_EQ(io_->AwaitRoom(near_.get()), -EPERM) << "nothing is awaited";
}

// Few sockets are served otherwise than many.
TEST_P(SocketIoTest, EachOfManySocketsIsReadToItsEnd) {
  std::vector<std::unique_ptr<End>> ends;
  for (int i = 0; i < 20; ++i) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
    ends.push_back(std::make_unique<End>(sockets[0]));
    ASSERT_TRUE(io_->Add(ends.back().get()).ok());
    ASSERT_EQ(send(sockets[1], "ten bytes.", 10, 0), 10);
    close(sockets[1]);
  }
  for (const auto& end : ends) {
    ProgressUntil([&] { return end->reads.size() == 2; });
    EXPECT_EQ(end->came, "ten bytes.");
    EXPECT_EQ(end->reads, (std::vector<ssize_t>{10, 0}));
  }
  EXPECT_FALSE(io_->Progress());
  for (const auto& end : ends) io_->Remove(end.get());
}

TEST_P(SocketIoTest, AWriteToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  ASSERT_EQ(shutdown(far_, SHUT_RDWR), 0);
  const std::string text = Text(1000000);
  const iovec range{const_cast<char*>(text.data()), text.size()};
  ssize_t written = io_->Write(near_.get(), &range, 1);
  if (written == SocketIo::kPending) {
    ProgressUntil([&] { return !near_->writes.empty(); });
    written = near_->writes.back();
  }
  EXPECT_EQ(written, -EPIPE);
}

TEST_P(SocketIoTest, CancelledTargetsAreNotWritten) {
  io_->Progress();
  char other[100];
  near_->where = other;
  std::memset(near_->own, '-', sizeof(near_->own));
  io_->CancelRead(near_.get());
  const std::string text = Text(50);
  ASSERT_EQ(send(far_, text.data(), text.size(), 0), 50);
  ProgressUntil([&] { return !near_->came.empty(); });
  EXPECT_EQ(near_->came, text);
  EXPECT_EQ(near_->own[0], '-');
}

TEST_P(SocketIoTest, CancelledTargetsAreNotWrittenThoughAPartHadCome) {
  std::memset(near_->own, '-', sizeof(near_->own));
  ASSERT_EQ(send(far_, "one", 3, 0), 3);
  io_->CancelRead(near_.get());
  char other[100];
  near_->where = other;
  ASSERT_EQ(send(far_, "two", 3, 0), 3);
  const size_t before = near_->came.size();
  ProgressUntil([&] { return near_->came.size() == 6; });
  EXPECT_EQ(near_->came, "onetwo");
  EXPECT_EQ(std::string(near_->own, 4), before == 3 ? "one-" : "----");
}

TEST_P(SocketIoTest, ASegmentIsReportedOnceWhereProcessorsAreShared) {
  io_->ShareProcessor(true);
  std::vector<char> receive_buffer(5000);
  near_->where = receive_buffer.data();
  near_->room = receive_buffer.size();
  const std::string text = Text(5000);
  ASSERT_EQ(send(far_, text.data(), 2000, 0), 2000);
  for (int i = 0; i < 100; ++i) io_->Progress();
  ASSERT_EQ(send(far_, text.data() + 2000, 3000, 0), 3000);
  ProgressUntil([&] { return near_->came.size() == text.size(); });
  EXPECT_EQ(near_->came, text);
  if (has_ring()) {
    EXPECT_EQ(near_->reads, std::vector<ssize_t>{5000});
  }
}

TEST_P(SocketIoTest, ASegmentIsReadInPartsWithoutTheRing) {
  io_->ShareProcessor(true);
  io_->UseRing(false);
  std::vector<char> receive_buffer(5000);
  near_->where = receive_buffer.data();
  near_->room = receive_buffer.size();
  const std::string text = Text(5000);
  ASSERT_EQ(send(far_, text.data(), 2000, 0), 2000);
  ProgressUntil([&] { return near_->came.size() == 2000; });
  near_->where = receive_buffer.data() + 2000;
  near_->room = 3000;
  ASSERT_EQ(send(far_, text.data() + 2000, 3000, 0), 3000);
  ProgressUntil([&] { return near_->came.size() == text.size(); });
  EXPECT_EQ(near_->came, text);
  EXPECT_EQ(near_->reads, (std::vector<ssize_t>{2000, 3000}));
}

// The result of the one is found when the other is cancelled.
TEST_P(SocketIoTest, CancelReportsAReadThatHasEnded) {
  io_->ShareProcessor(true);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets), 0);
  End second(sockets[0]);
  ASSERT_TRUE(io_->Add(&second).ok());
  std::vector<char> receive_buffers(10000);
  near_->where = receive_buffers.data();
  second.where = receive_buffers.data() + 5000;
  near_->room = second.room = 5000;
  const std::string text = Text(5000);
  for (const int far : {far_, sockets[1]}) ASSERT_EQ(send(far, text.data(), 2000, 0), 2000);
  for (int i = 0; i < 100; ++i) io_->Progress();
  ASSERT_EQ(send(sockets[1], text.data() + 2000, 3000, 0), 3000);
  for (End* end : {near_.get(), &second}) io_->CancelRead(end);
  EXPECT_EQ(near_->came, text.substr(0, 2000));
  EXPECT_EQ(second.came.size(), has_ring() ? 5000u : 2000u);
  ProgressUntil([&] { return second.came.size() == text.size(); });
  EXPECT_EQ(second.came, text);
  io_->Remove(&second);
  close(sockets[1]);
}

TEST_P(SocketIoTest, RegisteredMemoryIsReadInto) {
  const size_t bytes = 1 << 20;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Status status = io_->RegisterMemory(ByteSpan{static_cast<std::byte*>(memory), bytes});
  EXPECT_EQ(status.ok(), has_ring()) << status.ToString();
  io_->CancelRead(near_.get());
  near_->where = static_cast<char*>(memory) + 4096;
  near_->room = 65536;
  const std::string text = Text(300000);
  size_t sent = 0;
  ProgressUntil([&] {
    const ssize_t n = send(far_, text.data() + sent, text.size() - sent, 0);
    if (n > 0) sent += static_cast<size_t>(n);
    return near_->came.size() == text.size();
  });
  EXPECT_EQ(near_->came, text);
  io_->Remove(near_.get());
  near_.reset();
  close(far_);
  io_->DeregisterMemory();
  munmap(memory, bytes);
}

// A thread that computes and makes no system call, once it has done `first`.
class Computing {
 public:
  template <typename First>
  explicit Computing(const First& first)
      : thread_([this, first] {
          first();
          began_ = true;
          while (!over_) {
          }
        }) {
    while (!began_) std::this_thread::yield();
  }
  ~Computing() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> began_{false};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// Both ends of a connection that does not wait, with little room on the way; *far is the other one.
int ConnectOverTcp(int* far) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(bind(listener, any, length), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  EXPECT_EQ(getsockname(listener, any, &length), 0);
  const int near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int room = 1 << 16;
  setsockopt(near, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
  EXPECT_EQ(connect(near, any, length), 0);
  *far = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  close(listener);
  fcntl(near, F_SETFL, O_NONBLOCK);
  return near;
}

// By a progress thread: the kernel does not wait for the next timer tick of the thread that began
// it. How long both take is recorded, and not judged.
TEST_P(SocketIoTest, AWriteContinuesWhileItsFirstThreadComputes) {
  const std::vector<char> bytes(256 << 20);
  size_t left = bytes.size();
  int far = -1;
  End near(ConnectOverTcp(&far));
  ASSERT_TRUE(io_->Add(&near).ok());
  iovec range{};
  const auto write = [&] {
    range = {const_cast<char*>(bytes.data()), left};
    return io_->Write(&near, &range, 1);
  };
  ssize_t written = 0;
  const Computing owner([&] {
    while ((written = write()) > 0) left -= static_cast<size_t>(written);
  });
  std::thread reader([&] {
    std::vector<char> into(1 << 20);
    for (size_t came = 0; came < bytes.size();) {
      pollfd readable{far, POLLIN, 0};
      poll(&readable, 1, -1);
      const ssize_t n = recv(far, into.data(), into.size(), 0);
      if (n > 0) came += static_cast<size_t>(n);
    }
  });
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    if (written == SocketIo::kPending) {
      ProgressUntil([&] { return !near.writes.empty(); });
      written = near.writes.back();
      near.writes.clear();
    }
    ASSERT_GT(written, 0);
    left -= static_cast<size_t>(written);
    if (left == 0) break;
    written = write();
  }
  reader.join();
  io_->Remove(&near);
  close(far);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", static_cast<int>(took.count() * 1000));
}

TEST_P(SocketIoTest, ACancelDoesNotWaitForTheThreadThatBeganTheRead) {
  io_->ShareProcessor(true);
  std::vector<char> receive_buffer(5000);
  near_->where = receive_buffer.data();
  near_->room = receive_buffer.size();
  std::vector<double> microseconds;
  for (int i = 0; i < 51; ++i) {
    const Computing owner([&] {
      ASSERT_EQ(send(far_, receive_buffer.data(), 2000, 0), 2000);
      for (int look = 0; look < 3; ++look) io_->Progress();
    });
    usleep(static_cast<useconds_t>(1000 + 77 * i));
    const auto start = std::chrono::steady_clock::now();
    io_->CancelRead(near_.get());
    microseconds.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  RecordProperty("microseconds", static_cast<int>(microseconds[25]));
}

// The progress owner may be a thread that is gone by the time something comes.
TEST_P(SocketIoTest, OutlivesTheThreadThatDroveIt) {
  const std::string text = Text(4 << 20);
  std::vector<char> bytes(text.begin(), text.end());
  const iovec range{bytes.data(), bytes.size()};
  ssize_t written = 0;
  std::thread([&] {
    ASSERT_EQ(send(far_, "one", 3, 0), 3);
    ProgressUntil([&] { return near_->came == "one"; });
    written = io_->Write(near_.get(), &range, 1);
  }).join();
  if (written == SocketIo::kPending) {
    // Not before the thread is buried by the kernel, too: a while after it was joined.
    usleep(100000);
    ASSERT_EQ(send(far_, "two", 3, 0), 3);
    ProgressUntil([&] { return near_->came == "onetwo"; });
    std::string taken;
    while (near_->writes.empty()) {
      char buffer[65536];
      const ssize_t n = recv(far_, buffer, sizeof(buffer), 0);
      if (n > 0) {
        taken.append(buffer, static_cast<size_t>(n));
      } else if (!io_->Progress()) {
        io_->Await(1000);
      }
    }
    written = near_->writes[0];
    ASSERT_GT(written, 0);
    taken += TakeFromFar(static_cast<size_t>(written) - taken.size());
    EXPECT_EQ(taken, text.substr(0, static_cast<size_t>(written)));
  }
  EXPECT_GT(written, 0);
}

TEST_P(SocketIoTest, WatchNotifiesOfADescriptor) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  struct Context {
    int descriptor;
    int times = 0;
  } context{pipe_ends[0]};
  const Status watched = io_->Watch(
      pipe_ends[0],
      [](void* c) {
        char byte;
        EXPECT_EQ(read(static_cast<Context*>(c)->descriptor, &byte, 1), 1);
        ++static_cast<Context*>(c)->times;
      },
      &context);
  ASSERT_TRUE(watched.ok()) << watched.ToString();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(write(pipe_ends[1], "x", 1), 1);
    ProgressUntil([&] { return context.times == i; });
  }
  near_.reset();
  io_.reset();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// As the system refuses any descriptor at the limit of watches, it refuses a file at all times.
TEST_P(SocketIoTest, WatchNamesTheCallThatFails) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const Status watched = io_->Watch(
      fileno(file), [](void*) {}, nullptr);
  EXPECT_EQ(watched.code(), StatusCode::kUnavailable);
  EXPECT_NE(watched.message().find("epoll_ctl"), std::string::npos) << watched.message();
  std::fclose(file);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SocketIoTest, ::testing::Values(&CreateUringIo, &CreatePlainIo),
                         [](const auto& kind) { return kind.index == 0 ? "IoUring" : "Sockets"; });

}  // namespace
}  // namespace brigade
