// Properties of TCP only; the conformance suite (test/) has the rest, and
// test/cluster/tcp_cluster_test.sh the tests that need hosts and links.

#include "transport/tcp/tcp_transport.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/crowd.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/wire/wire.h"

// Of this process. Reads count if bytes have come.
static std::atomic<int> writes{0};
static std::atomic<int> reads{0};

// No handshake gets anywhere.
static std::atomic<bool> unreachable{false};

// The last handshake that this process sent, as an eavesdropper sees it. Endpoints send on their
// threads.
static std::mutex overheard_mutex;
static std::vector<std::byte> overheard_handshake;

extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  ++writes;
  const iovec& first = message->msg_iov[0];
  const auto* const bytes = static_cast<const std::byte*>(first.iov_base);
  if (first.iov_len >= brigade::kHandshakeBytes && std::memcmp(bytes, "brigade\n", 8) == 0) {
    const std::lock_guard lock(overheard_mutex);
    overheard_handshake.assign(bytes, bytes + brigade::kHandshakeBytes);
    if (unreachable) {
      errno = EHOSTUNREACH;
      return -1;
    }
  }
  return syscall(SYS_sendmsg, socket, message, flags);
}

extern "C" ssize_t recvmsg(int socket, msghdr* message, int flags) {
  const ssize_t bytes = syscall(SYS_recvmsg, socket, message, flags);
  if (bytes > 0) ++reads;
  return bytes;
}

namespace brigade {
namespace {

constexpr std::chrono::seconds kSilence(3);

std::set<int> OpenDescriptors() {
  std::set<int> descriptors;
  DIR* const directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && descriptor != dirfd(directory)) descriptors.insert(descriptor);
  }
  closedir(directory);
  return descriptors;
}

// While one exists, this process cannot open another descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

long MostMemoryKib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

struct Transfer : Completion {
  explicit Transfer(size_t bytes, char fill = 0)
      : Completion([](Completion* c) { static_cast<Transfer*>(c)->over = true; }),
        data(bytes, std::byte(fill)) {}
  bool Holds(char fill) const {
    return data == std::vector<std::byte>(data.size(), std::byte(fill));
  }
  std::vector<std::byte> data;
  bool over = false;
};

// Two ranks. The test decides for which of them its thread calls Progress. The parameter: whether
// plain sockets.
class TcpTransportTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    InprocWorld world(2);
    std::thread other([&] { Open(&world, 1); });
    Open(&world, 0);
    other.join();
  }
  // Both ranks leave at once: a rank that leaves waits for the other's system only, but a failed
  // test may have left data for the other's code.
  void TearDown() override {
    std::thread other([&] { ranks_[1].endpoint.reset(); });
    ranks_[0].endpoint.reset();
    other.join();
  }

  void Open(InprocWorld* world, int rank) {
    TcpOptions options;
    options.interface = "lo";
    options.plain_sockets = GetParam();
    options.silence = kSilence;
    options.log = [this, rank](const std::string& line) {
      if (line.find("plain sockets are used instead") != std::string::npos) return;  // no io_uring
      const std::lock_guard<std::mutex> lock(mutex_);
      ranks_[rank].log += line + "\n";
    };
    const Status created = CreateTcpEndpoint(options, &ranks_[rank].endpoint);
    ASSERT_TRUE(created.ok()) << created.ToString();
    const auto bootstrap = world->MakeBootstrap(rank);
    const Status opened = ranks_[rank].endpoint->OpenGroup(bootstrap.get(), &ranks_[rank].group);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }

  Transfer* Send(int rank, size_t bytes, char fill, ChannelKind kind = ChannelKind::kPointToPoint) {
    Transfer* const send = &transfers_.emplace_back(bytes, fill);
    const Status status = ranks_[rank].endpoint->PostSend({ranks_[rank].group, kind}, 1 - rank,
                                                          {send->data.data(), bytes}, send);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return send;
  }
  Transfer* Receive(int rank, size_t bytes, ChannelKind kind = ChannelKind::kPointToPoint) {
    Transfer* const receive = &transfers_.emplace_back(bytes);
    receive->status = ranks_[rank].endpoint->PostReceive({ranks_[rank].group, kind}, 1 - rank,
                                                         {receive->data.data(), bytes}, receive);
    if (!receive->status.ok()) receive->over = true;
    return receive;
  }
  // Calls Progress without Pause, as a progress thread does.
  void ProgressUntilOver(const Transfer* transfer) {
    while (!transfer->over) {
      for (Rank& rank : ranks_) {
        if (rank.endpoint != nullptr) rank.endpoint->Progress();
      }
    }
  }
  void ExpectReceived(int rank, size_t bytes, char fill,
                      ChannelKind kind = ChannelKind::kPointToPoint) {
    const Transfer* const receive = Receive(rank, bytes, kind);
    ProgressUntilOver(receive);
    ASSERT_TRUE(receive->status.ok()) << receive->status.ToString();
    EXPECT_TRUE(receive->Holds(fill));
  }
  // Both know each other.
  void Connect() {
    Send(0, 10, 'c');
    ExpectReceived(1, 10, 'c');
  }
  // More than a system takes in for a program that does not read, and all that may be sent ahead.
  static constexpr size_t kAhead = 60000;
  void SendAhead(int rank) {
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      for (const char fill : {'a', 'b'}) Send(rank, kAhead, fill, ChannelKind(kind));
    }
  }
  void ExpectAhead(int rank) {
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      for (const char fill : {'a', 'b'}) {
        ASSERT_NO_FATAL_FAILURE(ExpectReceived(rank, kAhead, fill, ChannelKind(kind)));
      }
    }
  }
  std::string LogOf(int rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ranks_[rank].log;
  }

  struct Rank {
    std::unique_ptr<Endpoint> endpoint;
    GroupId group = -1;
    std::string log;
  };
  const std::set<int> inherited_ = OpenDescriptors();
  std::mutex mutex_;
  Rank ranks_[2];
  std::deque<Transfer> transfers_;
};

// Ranks that outnumber processors do so as long as a group has them.
TEST(TcpTransport, TheLastGroupThatSharesAProcessorGivesItBack) {
  ExpectCrowdUntilLastGroupCloses([] {
    TcpOptions options;
    options.interface = "lo";
    std::unique_ptr<Endpoint> endpoint;
    EXPECT_TRUE(CreateTcpEndpoint(options, &endpoint).ok());
    return endpoint;
  });
}

// Ranks of one machine read as one of them has measured, also in later groups.
TEST(TcpTransport, RanksOfAMachineAgreeHowTheyRead) {
  InprocWorld world(2);
  std::string choices[2][2];
  const auto run = [&](int rank) {
    TcpOptions options;
    options.interface = "lo";
    options.io_uring.reset();
    std::unique_ptr<Endpoint> endpoint;
    ASSERT_TRUE(CreateTcpEndpoint(options, &endpoint).ok());
    EXPECT_STREQ(endpoint->capabilities().choice, "");
    for (std::string& choice : choices[rank]) {
      GroupId group;
      ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(rank).get(), &group).ok());
      choice = endpoint->CapabilitiesOf(group).choice;
    }
    char mine = 0, all[2];
    (void)world.MakeBootstrap(rank)->AllGather(&mine, 1, all);  // nobody leaves before the other
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
  std::unique_ptr<SocketIo> io;
  EXPECT_EQ(choices[0][0].empty(), !CreateUringIo(&io).ok());
  for (const auto& of_rank : choices) {
    for (const std::string& choice : of_rank) EXPECT_EQ(choice, choices[0][0]);
  }
}

TEST_P(TcpTransportTest, APeerThatConnectsLaterGetsItsGrants) {
  const Transfer* const receive = Receive(1, 200000);
  Send(0, 200000, 'x');
  ProgressUntilOver(receive);
  EXPECT_TRUE(receive->Holds('x'));
}

TEST_P(TcpTransportTest, APeerThatIsConnectedToLaterGetsItsGrants) {
  const Transfer* const receive = Receive(1, 200000);
  Send(1, 10, 'c', ChannelKind::kAll);
  ExpectReceived(0, 10, 'c', ChannelKind::kAll);
  Send(0, 200000, 'x');
  ProgressUntilOver(receive);
  EXPECT_TRUE(receive->Holds('x'));
}

TEST_P(TcpTransportTest, ReceivesThatWereFilledAreGranted) {
  Connect();
  std::vector<const Transfer*> receives;
  for (int i = 0; i < 16; ++i) receives.push_back(Receive(1, 32768));
  for (int i = 0; i < 16; ++i) Send(0, 32768, static_cast<char>('a' + i));
  for (int i = 0; i < 16; ++i) {
    ProgressUntilOver(receives[i]);
    EXPECT_TRUE(receives[i]->Holds(static_cast<char>('a' + i)));
  }
}

// The receiver has a place for all of it and takes nothing in.
TEST_P(TcpTransportTest, SendNowReportsTheBytesKeptOfUserMemory) {
  Connect();
  for (const int descriptor : OpenDescriptors()) {
    const int bytes = 50000;
    for (const int which : {SO_SNDBUF, SO_RCVBUF}) {
      setsockopt(descriptor, SOL_SOCKET, which, &bytes, sizeof(bytes));
    }
  }
  constexpr size_t kBytes = 10000000;
  Transfer send(kBytes, 'x');
  Transfer next(kBytes, 'z');
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(kBytes, 1, kBytes, 1, &layout).ok());
  size_t kept_bytes = 0;
  const auto send_now = [&](Transfer* transfer) {
    return ranks_[0].endpoint->SendNow({ranks_[0].group, ChannelKind::kPointToPoint}, 1,
                                       ConstByteSpan(), {&layout, transfer->data.data(), 0, kBytes},
                                       transfer, &kept_bytes);
  };
  EXPECT_EQ(send_now(&send), SentNow::kNotYet) << "nobody receives it yet";
  const Transfer* const receive = Receive(1, kBytes);
  const Transfer* const receive_next = Receive(1, kBytes);
  ranks_[1].endpoint->polling()->Flush();
  while (send_now(&send) != SentNow::kYes) {
    ranks_[0].endpoint->Progress();  // until the grants of the receives have come
  }
  send.data.assign(kBytes, std::byte('y'));
  EXPECT_GT(kept_bytes, size_t{0});
  EXPECT_LT(kept_bytes, kBytes);
  for (int i = 0; i < 100; ++i) {
    ranks_[0].endpoint->Progress();
    EXPECT_EQ(send_now(&next), SentNow::kNotYet) << "there is no room";
  }
  ProgressUntilOver(receive);
  EXPECT_TRUE(receive->status.ok() && receive->Holds('x'));
  ProgressUntilOver(&send);
  EXPECT_EQ(send_now(&next), SentNow::kYes);
  ProgressUntilOver(receive_next);
  EXPECT_TRUE(receive_next->Holds('z'));
  ProgressUntilOver(&next);
}

TEST_P(TcpTransportTest, LongRunsAreSentFromUserMemory) {
  const Channel channel{ranks_[0].group, ChannelKind::kPointToPoint};
  std::vector<double> matrix(600 * 700);
  const auto sends = [&](const StridedLayout& layout, size_t offset, size_t bytes) {
    return ranks_[0].endpoint->SendsInPlace(
        channel, 1, {&layout, reinterpret_cast<std::byte*>(matrix.data()), offset, bytes});
  };
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(600, 600, 700, 8, &layout).ok());
  EXPECT_TRUE(sends(layout, 0, layout.bytes()));
  ASSERT_TRUE(StridedLayout::General(30, 600, 700, 8, &layout).ok());
  EXPECT_FALSE(sends(layout, 0, layout.bytes()));
  EXPECT_TRUE(sends(layout, 0, 240)) << "one run";
  // A triangle is narrow at one end.
  using Part = StridedLayout::Part;
  using Diagonal = StridedLayout::Diagonal;
  ASSERT_TRUE(
      StridedLayout::Trapezoid(Part::kLower, Diagonal::kIncluded, 600, 600, 700, 8, &layout).ok());
  EXPECT_TRUE(sends(layout, 0, layout.bytes()));
  EXPECT_TRUE(sends(layout, 0, 40000));
  EXPECT_FALSE(sends(layout, layout.bytes() - 4000, 4000));
}

TEST_P(TcpTransportTest, AShortMessageTakesOneWriteAndOneRead) {
  Connect();
  for (const size_t bytes : {8, 64, 1024}) {
    SCOPED_TRACE(bytes);
    const Transfer* const receive = Receive(1, bytes);
    const int writes_before = writes;
    const int reads_before = reads;
    Send(0, bytes, 's');
    ProgressUntilOver(receive);
    EXPECT_TRUE(receive->Holds('s'));
    EXPECT_EQ(writes, writes_before + 1);
    EXPECT_EQ(reads, reads_before + 1);
  }
}

TEST_P(TcpTransportTest, ANoteOfASegmentGoesWithIt) {
  Connect();
  const std::byte message[32] = {};
  const int before = writes;
  const Status sent =
      ranks_[0].endpoint->SendControl(ranks_[0].group, 1, {message, 32}, Urgency::kWithNext);
  EXPECT_TRUE(sent.ok()) << sent.ToString();
  EXPECT_EQ(writes, before);
  Send(0, 1000, 'p');
  EXPECT_EQ(writes, before + 1);
}

// Held control messages are sent although the peer sends nothing: this many may not be held.
TEST_P(TcpTransportTest, NotesThatWaitForMoreMakeRoom) {
  Connect();
  constexpr int kControls = 1000;
  constexpr int kTries = 1000000;
  const std::byte message[32] = {};
  int sent = 0;
  for (int tries = 0; tries < kTries && sent < kControls; ++tries) {
    const Status status =
        ranks_[0].endpoint->SendControl(ranks_[0].group, 1, {message, 32}, Urgency::kWithNext);
    if (status.ok()) {
      ++sent;
    } else {
      ASSERT_EQ(status.code(), StatusCode::kNoResource);
      ranks_[0].endpoint->Progress();
    }
  }
  EXPECT_EQ(sent, kControls);
}

// By a rank that posts them and then computes.
TEST_P(TcpTransportTest, ReceivesAreGrantedWhenTheirRankLeaves) {
  Connect();
  for (int i = 0; i < 3; ++i) Receive(1, 100000);
  ranks_[1].endpoint->polling()->Flush();
  for (int i = 0; i < 3; ++i) {
    const Transfer* const send = Send(0, 100000, 'x');
    while (!send->over) ranks_[0].endpoint->Progress();
  }
}

TEST_P(TcpTransportTest, MessagesOfAPeerThatHasLeftAreReceived) {
  Connect();
  for (int i = 0; i < 60; ++i) Send(0, 1000, static_cast<char>(i));
  ranks_[0].endpoint.reset();
  // The first is answered with a reset, and then the connection cannot be written to any more.
  for (int i = 0; i < 3; ++i) Send(1, 10, 'x');
  ranks_[1].endpoint->Progress();
  for (int i = 0; i < 60; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectReceived(1, 1000, static_cast<char>(i)));
  }
  const Transfer* const more = Receive(1, 10);
  ProgressUntilOver(more);
  EXPECT_EQ(more->status.code(), StatusCode::kPeerLost);
  EXPECT_NE(more->status.message().find("rank 0 of the group"), std::string::npos);
  EXPECT_NE(more->status.message().find("it has left"), std::string::npos);
}

TEST_P(TcpTransportTest, ARankWithoutProgressReceivesMessagesOfAPeerThatHasLeft) {
  for (int i = 0; i < 60; ++i) Send(0, 1000, static_cast<char>(i));
  ranks_[0].endpoint.reset();
  for (int i = 0; i < 3; ++i) Send(1, 10, 'x');
  for (int i = 0; i < 60; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectReceived(1, 1000, static_cast<char>(i)));
  }
}

// Both open a connection because neither sees the other's in time.
TEST_P(TcpTransportTest, TwoConnectionsEndOneAfterTheOther) {
  Send(0, 1000, 0);
  {
    const NoDescriptors none;
    ranks_[1].endpoint->Progress();  // cannot accept, and rests a while
  }
  Send(1, 10, 'y');
  ExpectReceived(0, 10, 'y');
  ExpectReceived(1, 1000, 0);
  for (int i = 1; i < 60; ++i) Send(0, 1000, static_cast<char>(i));
  ranks_[0].endpoint.reset();
  // Sees the end of its own connection, and looks again long after.
  while (ranks_[1].endpoint->Progress()) {
    usleep(300000);
  }
  for (int i = 1; i < 60; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectReceived(1, 1000, static_cast<char>(i)));
  }
}

TEST_P(TcpTransportTest, APeerThatReceivesNothingIsNotLost) {
  Connect();
  SendAhead(0);
  const auto end = std::chrono::steady_clock::now() + 2 * kSilence;
  while (std::chrono::steady_clock::now() < end) {
    if (!ranks_[0].endpoint->Progress()) ranks_[0].endpoint->polling()->Pause(1000);
  }
  ExpectAhead(1);
}

TEST_P(TcpTransportTest, ALeavingRankWaitsUntilItsDataAreReceived) {
  Connect();
  SendAhead(0);
  std::thread leaving([&] { ranks_[0].endpoint.reset(); });
  while (LogOf(0).find("this rank waits until 127.0.0.1:") == std::string::npos) usleep(10000);
  std::this_thread::sleep_for(kSilence);  // it is not silent that this one reads nothing
  Endpoint* const endpoint = ranks_[1].endpoint.get();
  for (int kind = 0; kind < kChannelKinds; ++kind) {
    for (const char fill : {'a', 'b'}) {
      const Transfer* const receive = Receive(1, kAhead, ChannelKind(kind));
      while (!receive->over) endpoint->Progress();
      EXPECT_TRUE(receive->status.ok() && receive->Holds(fill)) << receive->status.ToString();
    }
  }
  leaving.join();
}

TEST_P(TcpTransportTest, NoFrameFollowsAShutdownFrame) {
  Connect();
  // The system takes all of it and the shutdown frame, but cannot deliver it yet.
  for (const int descriptor : OpenDescriptors()) {
    const int bytes = 200000;
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));  // those that are sockets
  }
  for (const char fill : {'a', 'b'}) Send(0, kAhead, fill);
  const Transfer* const last = Send(0, 1000, 'c', ChannelKind::kAll);
  while (!last->over) ranks_[0].endpoint->Progress();
  ranks_[0].endpoint->CloseGroup(ranks_[0].group);
  std::thread leaving([&] { ranks_[0].endpoint.reset(); });
  usleep(100000);
  Send(1, 10, 'x');  // to a group that is closed, which would be answered
  usleep(100000);
  Endpoint* const endpoint = ranks_[1].endpoint.get();
  for (const char fill : {'a', 'b'}) {
    const Transfer* const receive = Receive(1, kAhead);
    while (!receive->over) endpoint->Progress();
    EXPECT_TRUE(receive->status.ok() && receive->Holds(fill)) << receive->status.ToString();
  }
  const Transfer* const more = Receive(1, 10);
  while (!more->over) endpoint->Progress();
  leaving.join();
  EXPECT_EQ(more->status.code(), StatusCode::kPeerLost) << more->status.ToString();
  EXPECT_EQ(LogOf(1), "");
}

TEST_P(TcpTransportTest, TheErrorOfAConnectionToALeavingRankNamesTheReason) {
  InprocWorld world(3);
  std::unique_ptr<Endpoint> third;
  GroupId all[3];
  {
    TcpOptions options;
    options.interface = "lo";
    options.plain_sockets = GetParam();
    ASSERT_TRUE(CreateTcpEndpoint(options, &third).ok());
    const auto open = [&](int rank, Endpoint* endpoint) {
      const Status status = endpoint->OpenGroup(world.MakeBootstrap(rank).get(), &all[rank]);
      EXPECT_TRUE(status.ok()) << status.ToString();
    };
    std::thread first([&] { open(0, ranks_[0].endpoint.get()); });
    std::thread second([&] { open(1, ranks_[1].endpoint.get()); });
    open(2, third.get());
    first.join();
    second.join();
  }
  Connect();
  SendAhead(0);  // and so it cannot go before all that is received
  std::thread leaving([&] { ranks_[0].endpoint.reset(); });
  usleep(100000);
  Transfer send(10, 'x');
  ASSERT_TRUE(third->PostSend({all[2], ChannelKind::kAll}, 0, {send.data.data(), 10}, &send).ok());
  while (!send.over) third->Progress();
  usleep(100000);
  Endpoint* const endpoint = ranks_[1].endpoint.get();
  for (int kind = 0; kind < kChannelKinds; ++kind) {
    for (int i = 0; i < 2; ++i) {
      const Transfer* const receive = Receive(1, kAhead, ChannelKind(kind));
      while (!receive->over) endpoint->Progress();
    }
  }
  leaving.join();
  Transfer answer(10);
  answer.status =
      third->PostReceive({all[2], ChannelKind::kAll}, 0, {answer.data.data(), 10}, &answer);
  if (answer.status.ok()) {
    while (!answer.over) third->Progress();
  }
  EXPECT_NE(answer.status.message().find("it has left"), std::string::npos)
      << answer.status.ToString();
}

TEST_P(TcpTransportTest, ASendOnItsWayNamesThePeerThatIsLost) {
  Connect();
  constexpr size_t kBytes = 100000000;  // more than both systems take in (tcp_rmem, tcp_wmem)
  Receive(1, kBytes);
  const Transfer* const send = Send(0, kBytes, 'x');
  for (int i = 0; i < 100; ++i) {
    ranks_[0].endpoint->Progress();
    usleep(1000);
  }
  ranks_[1].endpoint.reset();
  ProgressUntilOver(send);
  EXPECT_EQ(send->status.code(), StatusCode::kPeerLost);
  EXPECT_NE(send->status.message().find("rank 1 of the group (127.0.0.1:"), std::string::npos)
      << send->status.message();
}

TEST_P(TcpTransportTest, ASendToItselfEndsWithTheGroup) {
  Endpoint* const endpoint = ranks_[0].endpoint.get();
  Transfer send(10);
  const Status status = endpoint->PostSend({ranks_[0].group, ChannelKind::kPointToPoint}, 0,
                                           {send.data.data(), 10}, &send);
  ASSERT_TRUE(status.ok()) << status.ToString();
  endpoint->CloseGroup(ranks_[0].group);
  endpoint->Progress();
  EXPECT_TRUE(send.over);
}

TEST_P(TcpTransportTest, AForkedChildClosesNoConnection) {
  Connect();
  const Transfer* const receive = Receive(0, 10);
  const pid_t child = fork();
  if (child == 0) {
    for (Rank& rank : ranks_) rank.endpoint.reset();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_EQ(how, 0);
  Send(1, 10, 'x');
  ProgressUntilOver(receive);
  EXPECT_TRUE(receive->status.ok()) << receive->status.ToString();
  EXPECT_TRUE(receive->Holds('x'));
  Send(0, 10, 'y');
  ExpectReceived(1, 10, 'y');
}

TEST_P(TcpTransportTest, WithoutDescriptorsAnErrorSaysSoAfterAWhile) {
  const NoDescriptors none;
  const Transfer* const send = Send(0, 10, 'x');
  ProgressUntilOver(send);
  EXPECT_EQ(send->status.code(), StatusCode::kPeerLost);
  const std::string& message = send->status.message();
  EXPECT_NE(message.find("rank 1 of the group"), std::string::npos) << message;
  EXPECT_NE(message.find("no connection for 3 s"), std::string::npos) << message;
  EXPECT_NE(message.find("Too many open files; raise the limit"), std::string::npos) << message;
}

TEST_P(TcpTransportTest, OnceThereAreDescriptorsEverythingArrivesInOrder) {
  {
    const NoDescriptors none;
    Receive(0, 10);  // which is granted later
    for (const char fill : {'a', 'b'}) Send(0, kAhead, fill);
    Send(0, 200000, 'c');
    for (int i = 0; i < 300; ++i) {
      ranks_[0].endpoint->Progress();
      usleep(1000);
    }
  }
  for (const char fill : {'a', 'b'}) ExpectReceived(1, kAhead, fill);
  ExpectReceived(1, 200000, 'c');
  Send(1, 10, 'd');
  ProgressUntilOver(&transfers_.front());
  EXPECT_TRUE(transfers_.front().Holds('d'));
  EXPECT_EQ(LogOf(0) + LogOf(1), "");
}

// Attempts that fail at once, and a look at peers between one and the next.
TEST_P(TcpTransportTest, APeerThatIsTriedAgainIsNotLost) {
  Endpoint* const endpoint = ranks_[0].endpoint.get();
  endpoint->polling()->Nudge();
  unreachable = true;
  const Transfer* const send = Send(0, 10, 'x');
  endpoint->Progress();
  usleep(1200000);  // it looks once a second
  endpoint->Progress();
  endpoint->polling()->Nudge();
  unreachable = false;
  ExpectReceived(1, 10, 'x');
  ProgressUntilOver(send);
  EXPECT_TRUE(send->status.ok()) << send->status.ToString();
}

// A message that this rank could not send on its own connection is sent on the peer's.
TEST_P(TcpTransportTest, APeerThatCannotBeReachedMayReachThisRank) {
  Transfer* send = nullptr;
  {
    const NoDescriptors none;
    send = Send(0, 10, 'x');
  }
  Send(1, 10, 'y');
  // Before this rank's next attempt.
  while (!send->over) ranks_[0].endpoint->Progress();
  ExpectReceived(0, 10, 'y');
  ExpectReceived(1, 10, 'x');
}

TEST_P(TcpTransportTest, AHandshakeThatAStrangerRepeatsIsRefused) {
  overheard_handshake.clear();
  Connect();
  ASSERT_FALSE(overheard_handshake.empty());
  // Not a frame: a reader that continues behind the handshake would report a protocol violation.
  std::vector<std::byte> said = overheard_handshake;
  said.resize(said.size() + 100);
  int listening = 0;
  for (const int descriptor : OpenDescriptors()) {
    int listens = 0;
    socklen_t bytes = sizeof(listens);
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens == 0) {
      continue;
    }
    ++listening;
    sockaddr_storage address{};
    bytes = sizeof(address);
    ASSERT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    const int stranger = socket(address.ss_family, SOCK_STREAM, 0);
    ASSERT_EQ(connect(stranger, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    ASSERT_EQ(send(stranger, said.data(), said.size(), 0), static_cast<ssize_t>(said.size()));
    char answer;
    ssize_t got = -1;
    do {
      for (Rank& rank : ranks_) rank.endpoint->Progress();
      got = recv(stranger, &answer, 1, MSG_DONTWAIT);
    } while (got < 0 && errno == EAGAIN);
    EXPECT_LE(got, 0);
    close(stranger);
  }
  EXPECT_EQ(listening, 2);
  EXPECT_NE(LogOf(0).find("for another endpoint"), std::string::npos) << LogOf(0);
  EXPECT_NE(LogOf(1).find("was dropped: nobody expects it"), std::string::npos) << LogOf(1);
  for (const int rank : {0, 1}) {
    Send(1 - rank, 200000, 'x');
    ExpectReceived(rank, 200000, 'x');
  }
}

// It is there for as long as something of it is being sent.
TEST_P(TcpTransportTest, ReceivesOfAClosedGroupAreNotToldLater) {
  Connect();
  const Transfer* const send = Send(1, 200000, 'x');
  Receive(1, 10);  // is granted when this rank has waited
  ranks_[1].endpoint->CloseGroup(ranks_[1].group);
  const int before = writes;
  ranks_[1].endpoint->polling()->Nudge();
  EXPECT_EQ(writes, before);
  ranks_[0].endpoint->CloseGroup(ranks_[0].group);
  ProgressUntilOver(send);
}

// Each leaves a group in which the other still waits for it.
TEST_P(TcpTransportTest, UnreceivedMessagesAreDroppedWhenTheReceiverClosesTheGroup) {
  Connect();
  std::vector<const Transfer*> sends;
  for (const int rank : {0, 1}) {
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      sends.push_back(Send(rank, 200000, 'x', ChannelKind(kind)));
    }
  }
  for (Rank& rank : ranks_) rank.endpoint->CloseGroup(rank.group);
  for (const Transfer* send : sends) {
    ProgressUntilOver(send);
    EXPECT_TRUE(send->status.ok()) << send->status.ToString();
  }
  for (const int rank : {0, 1}) {
    const std::string log = LogOf(rank);
    EXPECT_NE(log.find("rank " + std::to_string(1 - rank) + " of the group (127.0.0.1:"),
              std::string::npos)
        << log;
    EXPECT_NE(log.find("has closed the group without receiving"), std::string::npos) << log;
  }
}

// As above, but the receiver was not connected with the sender when it closed the group.
TEST_P(TcpTransportTest, SendsToAGroupClosedBeforeTheConnectionAreDropped) {
  ranks_[1].endpoint->CloseGroup(ranks_[1].group);
  const Transfer* const send = Send(0, 200000, 'x');
  ProgressUntilOver(send);
  EXPECT_TRUE(send->status.ok()) << send->status.ToString();
  EXPECT_NE(LogOf(0).find("has closed the group without receiving"), std::string::npos) << LogOf(0);
  // From here on it is thrown away, and takes no memory, however much it is.
  Transfer segment(size_t{1} << 20);
  const long before_kib = MostMemoryKib();
  for (int i = 0; i < 300; ++i) {
    segment.over = false;
    const Status status =
        ranks_[0].endpoint->PostSend({ranks_[0].group, ChannelKind::kPointToPoint}, 1,
                                     {segment.data.data(), segment.data.size()}, &segment);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ProgressUntilOver(&segment);
  }
  EXPECT_LT(MostMemoryKib() - before_kib, 30000);
}

// As above, but the sender knows it before it sends.
TEST_P(TcpTransportTest, SendsToAGroupKnownToBeClosedAreDropped) {
  Connect();
  ranks_[1].endpoint->CloseGroup(ranks_[1].group);
  // Notices come in the order of kinds.
  ProgressUntilOver(Send(0, 200000, 'x', ChannelKind(kChannelKinds - 1)));
  const auto lines = [&] {
    const std::string log = LogOf(0);
    return std::count(log.begin(), log.end(), '\n');
  };
  EXPECT_EQ(lines(), 1) << LogOf(0);
  for (int i = 0; i < 2; ++i) {
    ProgressUntilOver(Send(0, 10, 'x', ChannelKind::kRow));
    EXPECT_EQ(lines(), 2) << LogOf(0);
  }
  Transfer now(10, 'x');
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(10, 1, 10, 1, &layout).ok());
  size_t kept_bytes = 0;
  ASSERT_EQ(ranks_[0].endpoint->SendNow({ranks_[0].group, ChannelKind::kColumn}, 1, {},
                                        {&layout, now.data.data(), 0, now.data.size()}, &now,
                                        &kept_bytes),
            SentNow::kYes);
  ProgressUntilOver(&now);
  EXPECT_EQ(lines(), 3) << LogOf(0);
}

// So that all may agree on another transport.
TEST_P(TcpTransportTest, AMissingSocketIsAnErrorOnAllRanks) {
  InprocWorld world(3);
  std::unique_ptr<Endpoint> endpoints[3];
  TcpOptions options;
  options.interface = "lo";
  options.plain_sockets = GetParam();
  options.log = [](const std::string&) {};
  for (auto& endpoint : endpoints) ASSERT_TRUE(CreateTcpEndpoint(options, &endpoint).ok());
  const auto open = [&](const std::vector<int>& members) {
    std::vector<Status> opened(members.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < members.size(); ++i) {
      threads.emplace_back([&, i] {
        GroupId group = -1;
        const auto bootstrap = world.MakeBootstrap(members, static_cast<int>(i));
        opened[i] = endpoints[members[i]]->OpenGroup(bootstrap.get(), &group);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return opened;
  };
  for (const Status& status : open({0, 1})) EXPECT_TRUE(status.ok()) << status.ToString();
  {
    const NoDescriptors none;
    EXPECT_TRUE(open({2})[0].ok());
    const std::vector<Status> opened = open({0, 2});
    EXPECT_EQ(opened[0].code(), StatusCode::kUnavailable);
    EXPECT_EQ(opened[0].message(), "tcp: rank 1 of the group cannot use TCP");
    EXPECT_EQ(opened[1].code(), StatusCode::kUnavailable);
    EXPECT_NE(opened[1].message().find("Too many open files"), std::string::npos)
        << opened[1].message();
  }
  for (const Status& status : open({0, 2})) EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_P(TcpTransportTest, NoDescriptorOutlivesAnExec) {
  Connect();
  for (const int descriptor : OpenDescriptors()) {
    if (inherited_.count(descriptor) > 0) continue;
    EXPECT_TRUE((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0) << descriptor;
  }
}

TEST_P(TcpTransportTest, LeavesNoDescriptor) {
  Connect();
  const std::set<int> before = OpenDescriptors();
  TearDown();
  const std::set<int> between = OpenDescriptors();
  EXPECT_LT(between.size(), before.size());
  SetUp();
  Connect();
  EXPECT_EQ(OpenDescriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TcpTransportTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Sockets" : "Tcp"; });

}  // namespace
}  // namespace brigade
