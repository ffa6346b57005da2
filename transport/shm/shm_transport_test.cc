// Properties of shm only; the conformance suite (test/) has the rest.

#include "transport/shm/shm_transport.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/overflow_budget.h"
#include "membuf/strided_layout.h"
#include "test/support/crowd.h"
#include "transport/control.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/meeting.h"

namespace brigade {

class EdgeTestPeer {
 public:
  static std::atomic<uint64_t>& PostedIn(const OutEdge& edge) { return edge.shared_->posted.state; }
};

namespace {

constexpr Channel PointToPoint(GroupId group) { return {group, ChannelKind::kPointToPoint}; }

std::unique_ptr<Endpoint> NewEndpoint() {
  std::unique_ptr<Endpoint> endpoint;
  const Status status = CreateShmEndpoint(&endpoint);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return endpoint;
}

// A group of this rank and, if its size is above 1, of simulated members, whose introductions are
// this rank's, changed by `tamper`.
class Alone : public Bootstrap {
 public:
  explicit Alone(int size = 1, std::function<void(std::byte*, size_t)> tamper = nullptr)
      : size_(size), tamper_(std::move(tamper)) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    for (int r = 0; r < size_; ++r) {
      auto* const theirs = static_cast<std::byte*>(all) + r * bytes;
      std::memcpy(theirs, mine, bytes);
      if (r > 0) tamper_(theirs, bytes);
    }
    return Status();
  }

 private:
  const int size_;
  const std::function<void(std::byte*, size_t)> tamper_;
};

// Stores the place of this rank's directory of a new group.
class NotingBootstrap : public Bootstrap {
 public:
  NotingBootstrap(std::unique_ptr<Bootstrap> target, uint64_t* directory)
      : target_(std::move(target)), directory_(directory) {}
  int rank() const override { return target_->rank(); }
  int size() const override { return target_->size(); }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    if (bytes == sizeof(shm::Introduction)) {
      *directory_ = static_cast<const shm::Introduction*>(mine)->directory_offset;
    }
    return target_->AllGather(mine, bytes, all);
  }

 private:
  const std::unique_ptr<Bootstrap> target_;
  uint64_t* const directory_;
};

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->over = true; }) {}
  bool over = false;
};

GroupId OpenAlone(Endpoint* endpoint) {
  Alone alone;
  GroupId group = -1;
  EXPECT_TRUE(endpoint->OpenGroup(&alone, &group).ok());
  return group;
}

// Bytes of shared memory that this process holds.
size_t SharedBytes() {
  size_t bytes = 0;
  for (int fd = 3; fd < 200; ++fd) {
    char name[64] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), name, sizeof(name) - 1) < 0) continue;
    struct stat info;
    if (std::strncmp(name, "/memfd:brigade", 14) != 0 || fstat(fd, &info) != 0) continue;
    bytes += static_cast<size_t>(info.st_blocks) * 512;
  }
  return bytes;
}

// A peer writes the contents of a slot. If they are invalid, the receive fails and names the peer,
// and the next message is received.
TEST(ShmEndpoint, MessagesOutsideTheirMemoryAreRefused) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const GroupId group = OpenAlone(endpoint.get());
  const auto refused = [&](const std::function<void(Slot*)>& fill) {
    OutEdge* const out = endpoint->edges()->EdgeTo(PointToPoint(group), 0);
    Slot* const slot = out->Next();
    fill(slot);
    out->Publish(slot);
    const char good[] = "good";
    Operation sent;
    ASSERT_TRUE(endpoint
                    ->PostSend(PointToPoint(group), 0,
                               {reinterpret_cast<const std::byte*>(good), sizeof(good)}, &sent)
                    .ok());
    for (const bool bad : {true, false}) {
      Operation received;
      ASSERT_TRUE(
          endpoint->PostReceive(PointToPoint(group), 0, {nullptr, SIZE_MAX}, &received).ok());
      while (!received.over) endpoint->Progress();
      if (bad) {
        EXPECT_EQ(received.status.code(), StatusCode::kInternal);
        EXPECT_NE(received.status.message().find("rank 0 "), std::string::npos)
            << received.status.message();
      } else {
        ASSERT_TRUE(received.status.ok()) << received.status.ToString();
        EXPECT_EQ(std::memcmp(received.lease.data, good, sizeof(good)), 0);
        endpoint->ReleaseLease(received.lease);
      }
    }
  };
  for (const uint16_t bytes : {Slot::kInlineBytes + 1, size_t{1} << 15, size_t{UINT16_MAX}}) {
    refused([&](Slot* slot) {
      slot->kind = Slot::kInline;
      slot->bytes = bytes;
    });
  }
  for (const int kind : {static_cast<int>(Slot::kInPosted), 5, 255, 65535}) {
    refused([&](Slot* slot) {
      slot->kind = static_cast<Slot::Kind>(kind);
      slot->bytes = 8;
    });
  }
  const auto segment = [&](uint32_t owner, uint64_t offset, uint64_t bytes) {
    SCOPED_TRACE(std::to_string(owner) + " " + std::to_string(offset) + " " +
                 std::to_string(bytes));
    refused([&](Slot* slot) {
      const SegmentAt at{owner, offset, bytes};
      slot->kind = Slot::kSegment;
      std::memcpy(slot->payload, &at, sizeof(at));
    });
  };
  segment(1, 0, 64);
  segment(UINT32_MAX, 0, 64);
  segment(0, uint64_t{1} << 30, 64);
  segment(0, 64, uint64_t{1} << 30);
  segment(0, 4096, UINT64_MAX - 100);
  segment(0, UINT64_MAX - 63, 128);
  segment(0, UINT64_MAX, 1);
  segment(0, 0, UINT64_MAX);
  endpoint->CloseGroup(group);
}

// The posted buffer of a receive, whose sender is this rank.
class ShmPostedBuffer : public testing::Test {
 protected:
  static constexpr size_t kBytes = 10000;

  ShmPostedBuffer() {
    ShmOptions options;
    options.kernel_copies = KernelCopies::Both({1, kBytes});
    EXPECT_TRUE(CreateShmEndpoint(options, &endpoint_).ok());
    channel_ = PointToPoint(OpenAlone(endpoint_.get()));
    out_ = endpoint_->edges()->EdgeTo(channel_, 0);
  }
  bool Post() { return endpoint_->edges()->PostBuffer(channel_, 0, layout_, buffer_.data()); }
  void Receive(Operation* received) {
    received->over = false;
    EXPECT_TRUE(endpoint_->PostReceive(channel_, 0, {nullptr, SIZE_MAX}, received).ok());
  }
  void SendInline() {
    Slot* const slot = out_->Next();
    slot->kind = Slot::kInline;
    slot->bytes = 8;
    out_->Publish(slot);
  }
  bool SendToPostedBuffer() {
    const std::byte head[3] = {};
    return out_->SendToPostedBuffer({head, sizeof(head)}, layout_, data_.data());
  }
  size_t BytesOf(Operation* received) {
    while (!received->over) endpoint_->Progress();
    EXPECT_TRUE(received->status.ok());
    endpoint_->ReleaseLease(received->lease);
    return received->lease.bytes;
  }

  // Takes a lease, so that edges stay when their group is closed.
  void KeepEdges() {
    Receive(&kept_);
    SendInline();
    while (!kept_.over) endpoint_->Progress();
  }

  std::unique_ptr<Endpoint> endpoint_;
  Channel channel_;
  OutEdge* out_ = nullptr;
  Operation kept_;
  const StridedLayout layout_ = StridedLayout::Contiguous(kBytes);
  std::vector<std::byte> data_ = std::vector<std::byte>(kBytes, std::byte{7});
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kBytes, std::byte{9});
};

TEST_F(ShmPostedBuffer, IsForTheReceiveThatComesNext) {
  EXPECT_FALSE(Post()) << "there is no receive";
  Operation one, two;
  Receive(&one);
  ASSERT_TRUE(Post());
  Receive(&two);
  EXPECT_FALSE(Post()) << "another receive comes first";
  ASSERT_TRUE(SendToPostedBuffer());
  EXPECT_EQ(BytesOf(&one), 3u);
  EXPECT_EQ(buffer_, data_);
  SendInline();
  EXPECT_FALSE(Post()) << "the message is here";
  EXPECT_EQ(BytesOf(&two), 8u);
}

TEST_F(ShmPostedBuffer, NeedNotBeUsed) {
  Operation received;
  Receive(&received);
  ASSERT_TRUE(Post());
  SendInline();
  EXPECT_FALSE(SendToPostedBuffer());
  EXPECT_EQ(BytesOf(&received), 8u);
  EXPECT_EQ(buffer_, std::vector<std::byte>(kBytes, std::byte{9}));
}

TEST_F(ShmPostedBuffer, IsNotWrittenToAfterItsGroupWasClosed) {
  KeepEdges();
  Operation received;
  Receive(&received);
  ASSERT_TRUE(Post());
  endpoint_->CloseGroup(channel_.group);
  EXPECT_FALSE(out_->MayWritePostedBuffer(layout_));
  EXPECT_FALSE(received.over);
}

// The group of a receiver, whose sender has claimed the buffer.
TEST_F(ShmPostedBuffer, IsAwaitedWhileItsSenderCopies) {
  KeepEdges();
  Operation received;
  Receive(&received);
  ASSERT_TRUE(Post());
  EdgeTestPeer::PostedIn(*out_) = PostedBuffer::StateOf(out_->sent(), PostedBuffer::kClaimed);
  std::atomic<bool> is_copied{false};
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_copied = true;
    SendInline();
  });
  endpoint_->CloseGroup(channel_.group);
  EXPECT_TRUE(is_copied);
  sender.join();
}

// A peer with an invalid introduction: the group fails to open, or, if the value does not affect
// memory, opens without other effects.
TEST(ShmEndpoint, IntroductionsThatCannotBeAreRefused) {
  std::mt19937_64 random(5);
  int refused = 0;
  for (int round = 0; round < 20; ++round) {
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    for (int i = 0; i < 100; ++i) {
      bool first = true;
      Alone alone(3, [&](std::byte* said, size_t bytes) {
        const auto value = static_cast<std::byte>(random());
        const size_t at = random() % bytes;
        if (first) said[at] = value;
        first = random() % 2 == 0;
      });
      GroupId group = -1;
      const Status status = endpoint->OpenGroup(&alone, &group);
      if (status.ok()) {
        endpoint->CloseGroup(group);
      } else {
        ++refused;
        EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.ToString();
      }
      // The endpoint is as good as before.
      const GroupId good = OpenAlone(endpoint.get());
      endpoint->CloseGroup(good);
    }
    endpoint->polling()->Pause(1000000);
    endpoint->polling()->Pause(1000000);  // sleeps, then looks who has gone
  }
  EXPECT_GT(refused, 100);
}

TEST(ShmEndpoint, ALineLastsUntilItsLeaseIsReleased) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const GroupId group = OpenAlone(endpoint.get());
  const uint64_t data = 0x123456789abcdef;
  Operation sent, received;
  ASSERT_TRUE(endpoint
                  ->PostSend(PointToPoint(group), 0,
                             {reinterpret_cast<const std::byte*>(&data), sizeof(data)}, &sent)
                  .ok());
  ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 0, {nullptr, 100}, &received).ok());
  ASSERT_TRUE(sent.over && received.over);
  endpoint->CloseGroup(group);
  // Groups that would use its memory.
  for (int i = 0; i < 10; ++i) {
    const GroupId other = OpenAlone(endpoint.get());
    const uint64_t noise = 0;
    Operation posted;
    ASSERT_TRUE(endpoint
                    ->PostSend(PointToPoint(other), 0,
                               {reinterpret_cast<const std::byte*>(&noise), sizeof(noise)}, &posted)
                    .ok());
    EXPECT_EQ(std::memcmp(received.lease.data, &data, sizeof(data)), 0);
    endpoint->CloseGroup(other);
    endpoint->Progress();
  }
  endpoint->ReleaseLease(received.lease);
}

TEST(ShmEndpoint, GroupsGiveTheirMemoryBack) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    const GroupId group = OpenAlone(endpoint.get());
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      for (int message = 0; message < 20; ++message) {
        Operation sent;
        ASSERT_TRUE(endpoint
                        ->PostSend({group, static_cast<ChannelKind>(kind)}, 0,
                                   {reinterpret_cast<const std::byte*>(&i), sizeof(i)}, &sent)
                        .ok());
      }
    }
    endpoint->CloseGroup(group);
    endpoint->Progress();
    if (i == 10) most = SharedBytes();
  }
  EXPECT_GT(most, 0u);
  EXPECT_EQ(SharedBytes(), most);
}

// Of two members, of which the other has nothing that can be mapped. The gather number `good`
// fails.
class FailingGather : public Alone {
 public:
  explicit FailingGather(int good)
      : Alone(2, [](std::byte* said, size_t bytes) { std::memset(said, 0, bytes); }), left_(good) {}
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    if (left_-- == 0) return Status(StatusCode::kPeerLost, "no more of the other process");
    return Alone::AllGather(mine, bytes, all);
  }

 private:
  int left_;
};

TEST(ShmEndpoint, GroupsThatCannotBeMadeGiveTheirMemoryBack) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  size_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const int good : {0, 1}) {
      FailingGather bootstrap(good);
      GroupId group = -1;
      EXPECT_EQ(endpoint->OpenGroup(&bootstrap, &group).code(), StatusCode::kPeerLost);
    }
    if (i == 10) most = SharedBytes();
  }
  EXPECT_GT(most, 0u);
  EXPECT_EQ(SharedBytes(), most);
}

TEST(ShmEndpoint, NoChildProgramInheritsADescriptor) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const GroupId group = OpenAlone(endpoint.get());
  for (int fd = 3; fd < 200; ++fd) {
    char name[64] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), name, sizeof(name) - 1) < 0) continue;
    if (std::strncmp(name, "/memfd:brigade", 14) != 0) continue;
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  endpoint->CloseGroup(group);
}

// Ranks that outnumber processors do so as long as a group has them.
TEST(ShmEndpoint, TheLastCrowdedGroupTakesTheCrowdWithIt) {
  ExpectCrowdUntilLastGroupCloses(NewEndpoint);
}

// Rank 1, which opens a group and is gone.
std::thread RankThatLeaves(InprocWorld* world) {
  return std::thread([world] {
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    GroupId group = -1;
    EXPECT_TRUE(endpoint->OpenGroup(world->MakeBootstrap(1).get(), &group).ok());
  });
}

// Progress alone detects it, without Pause.
TEST(ShmEndpoint, ARankThatHasLeftIsNoticedByProgressAlone) {
  InprocWorld world(2);
  std::thread other = RankThatLeaves(&world);
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  GroupId group = -1;
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &group).ok());
  Operation received;
  const Status posted = endpoint->PostReceive(PointToPoint(group), 1, {nullptr, 100}, &received);
  if (posted.ok()) {
    while (!received.over) endpoint->Progress();
    EXPECT_EQ(received.status.code(), StatusCode::kPeerLost) << received.status.ToString();
  }
  other.join();
  endpoint->CloseGroup(group);
}

// Ranks that use an edge directly learn from it alone that the other rank is lost.
TEST(ShmEndpoint, EdgesOfARankThatHasLeftAreLost) {
  InprocWorld world(2);
  std::thread other = RankThatLeaves(&world);
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  GroupId group = -1;
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &group).ok());
  other.join();
  OutEdge* const opened_before = endpoint->edges()->EdgeTo(PointToPoint(group), 1);
  InEdge* const found_before = endpoint->edges()->EdgeFrom(PointToPoint(group), 1);
  endpoint->polling()->Nudge();
  endpoint->Progress();
  EXPECT_EQ(opened_before->Next(), nullptr);
  EXPECT_EQ(endpoint->edges()->EdgeTo({group, ChannelKind::kAll}, 1)->Next(), nullptr);
  EXPECT_TRUE(found_before->lost());
  EXPECT_TRUE(endpoint->edges()->EdgeFrom({group, ChannelKind::kAll}, 1)->lost());
  endpoint->CloseGroup(group);
}

// It closes nothing any more.
TEST(ShmEndpoint, GroupsOfARankThatIsGoneGiveTheirMemoryBack) {
  constexpr int kGroups = 500;
  InprocWorld world(2);
  std::thread other([&] {
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(1);
    for (int i = 0; i < kGroups; ++i) {
      GroupId group = -1;
      EXPECT_TRUE(endpoint->OpenGroup(bootstrap.get(), &group).ok());
    }
  });
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const auto send = [&](GroupId group) {
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      Operation sent;
      ASSERT_TRUE(
          endpoint->PostSend({group, static_cast<ChannelKind>(kind)}, 0, {nullptr, 0}, &sent).ok());
    }
  };
  const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(0);
  for (int i = 0; i < kGroups; ++i) {
    GroupId group = -1;
    ASSERT_TRUE(endpoint->OpenGroup(bootstrap.get(), &group).ok());
    send(group);
    endpoint->CloseGroup(group);
  }
  other.join();
  endpoint->polling()->Pause(1000000);
  endpoint->polling()->Pause(1000000);  // sleeps, then looks who has gone
  endpoint->Progress();
  const size_t before = SharedBytes();
  std::vector<GroupId> groups;
  for (int i = 0; i < kGroups; ++i) {
    groups.push_back(OpenAlone(endpoint.get()));
    send(groups.back());
  }
  const size_t edges = size_t{kGroups} * kChannelKinds * sizeof(EdgeShared);
  EXPECT_LT(SharedBytes(), before + edges / 4);
  for (const GroupId group : groups) endpoint->CloseGroup(group);
}

// A sleeping rank that waits for a message and for the end of a send sees the end at its next poll,
// not thousands of polls later.
TEST(ShmEndpoint, ASleepingRankPollsForReturnedLeases) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const GroupId group = OpenAlone(endpoint.get());
  Operation never, sent, received;
  ASSERT_TRUE(endpoint->PostReceive({group, ChannelKind::kRow}, 0, {nullptr, 100}, &never).ok());
  ByteSpan memory;
  ASSERT_TRUE(endpoint->domain()->Allocate(0, 1000, &memory).ok());
  ASSERT_TRUE(endpoint->PostSend(PointToPoint(group), 0, memory, &sent).ok());
  ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 0, {nullptr, 1000}, &received).ok());
  ASSERT_TRUE(received.over);
  for (int i = 0; i < 10; ++i) endpoint->Progress();
  endpoint->ReleaseLease(received.lease);
  endpoint->polling()->Pause(1000000);
  endpoint->Progress();
  EXPECT_TRUE(sent.over);
  endpoint->CloseGroup(group);
}

// Segments in memory that is counted already are sent: they could not leave without their sender.
TEST(ShmEndpoint, AtTheLimitOfOverflowMemorySegmentsAreSentFromWhereTheyLie) {
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const auto budget = std::make_shared<OverflowBudget>(0);
  endpoint->SetOverflowBudget(budget);
  const GroupId group = OpenAlone(endpoint.get());
  OutEdge* const out = endpoint->edges()->EdgeTo(PointToPoint(group), 0);
  uint64_t lines = 0;
  while (Slot* const slot = out->Next()) {
    slot->kind = Slot::kInline;
    slot->bytes = 0;
    out->Publish(slot);
    ++lines;
  }
  EXPECT_GT(lines, 10000u);
  ByteSpan memory;
  ASSERT_TRUE(endpoint->domain()->Allocate(0, 4096, &memory).ok());
  std::memset(memory.data, 7, memory.bytes);
  Operation sent;
  ASSERT_TRUE(endpoint->PostSend(PointToPoint(group), 0, {memory.data, 40}, &sent).ok());
  EXPECT_FALSE(sent.over);
  for (; lines > 0; --lines) {
    Operation received;
    ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 0, {nullptr, 100}, &received).ok());
    ASSERT_TRUE(received.over);
    endpoint->ReleaseLease(received.lease);
  }
  Operation last;
  ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 0, {nullptr, 100}, &last).ok());
  ASSERT_TRUE(last.over);
  EXPECT_EQ(last.lease.bytes, 40u);
  EXPECT_EQ(last.lease.data, memory.data);
  endpoint->ReleaseLease(last.lease);
  endpoint->Progress();
  EXPECT_TRUE(sent.over);
  endpoint->CloseGroup(group);
}

// The shortage lasts, so it is an error, and not a refusal that may be retried.
TEST(ShmEndpoint, MissingMemoryForAnEdgeIsAnErrorWithTheReason) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{64 << 20, 64 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    std::vector<GroupId> groups;
    for (int i = 0; i < 100; ++i) groups.push_back(OpenAlone(endpoint.get()));
    ByteSpan memory;
    while (endpoint->domain()->Allocate(0, 4096, &memory).ok()) {
    }
    for (const GroupId group : groups) {
      Operation sent;
      const Status status = endpoint->PostSend(PointToPoint(group), 0, {nullptr, 0}, &sent);
      if (status.ok()) continue;
      const bool says_why = status.message().find("at its limit of 67108864") != std::string::npos;
      _exit(status.code() == StatusCode::kOutOfMemory && says_why ? 0 : 2);
    }
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Write changes the other rank's directory, although both ranks have closed the group.
TEST(ShmEndpoint, AGroupStaysUntilItsControlMessagesAreWritten) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{64 << 20, 64 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    const std::unique_ptr<Endpoint> other = NewEndpoint();
    // The place of the other rank's directory of this group.
    uint64_t directory = 0;
    GroupId group = -1;
    GroupId group_of_other = -1;
    InprocWorld world(2);
    std::thread opener([&] {
      NotingBootstrap bootstrap(world.MakeBootstrap(1), &directory);
      (void)other->OpenGroup(&bootstrap, &group_of_other);
    });
    (void)endpoint->OpenGroup(world.MakeBootstrap(0).get(), &group);
    opener.join();
    // Returns the place of the other rank's directory of a new group.
    const auto next_directory = [&] {
      uint64_t next = 0;
      GroupId next_group = -1;
      NotingBootstrap bootstrap(std::make_unique<Alone>(2, [](std::byte*, size_t) {}), &next);
      (void)other->OpenGroup(&bootstrap, &next_group);
      other->CloseGroup(next_group);
      return next;
    };
    std::vector<GroupId> groups;
    for (int i = 0; i < 100; ++i) groups.push_back(OpenAlone(endpoint.get()));
    ByteSpan memory;
    while (endpoint->domain()->Allocate(0, 16384, &memory).ok()) {
    }
    for (const GroupId full : groups) (void)endpoint->edges()->EdgeTo(PointToPoint(full), 0);
    if (!endpoint->SendControl(group, 1, {}, Urgency::kUrgent).ok()) _exit(2);
    if (!endpoint->HoldsControl()) _exit(3);
    endpoint->CloseGroup(group);
    other->CloseGroup(group_of_other);
    if (next_directory() == directory) _exit(4);
    endpoint->domain()->Free(memory);
    endpoint->Progress();
    other->Progress();
    _exit(next_directory() == directory ? 0 : 5);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Two processes that introduce each other through a socket.
class SocketBootstrap : public Bootstrap {
 public:
  SocketBootstrap(int socket, int rank) : socket_(socket), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    auto* const to = static_cast<std::byte*>(all);
    std::memcpy(to + rank_ * bytes, mine, bytes);
    const auto moved = static_cast<ssize_t>(bytes);
    if (send(socket_, mine, bytes, 0) != moved ||
        recv(socket_, to + (1 - rank_) * bytes, bytes, MSG_WAITALL) != moved) {
      return Status(StatusCode::kPeerLost, "no more of the other process");
    }
    return Status();
  }

 private:
  const int socket_;
  const int rank_;
};

// The messages of a killed process are received; then it is named as lost.
TEST(ShmEndpoint, AKilledProcessIsNamed) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const pid_t child = fork();
  const int rank = child == 0 ? 1 : 0;
  {
    const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
    SocketBootstrap bootstrap(sockets[rank], rank);
    GroupId group = -1;
    const Status opened = endpoint->OpenGroup(&bootstrap, &group);
    if (rank == 1) {
      ByteSpan memory;
      if (!opened.ok() || !endpoint->domain()->Allocate(0, 100000, &memory).ok()) _exit(1);
      std::memset(memory.data, 7, memory.bytes);
      Operation sent;
      if (!endpoint->PostSend(PointToPoint(group), 0, memory, &sent).ok()) _exit(1);
      raise(SIGKILL);
    }
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    Operation message, none;
    ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 1, {nullptr, 100000}, &message).ok());
    ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 1, {nullptr, 100000}, &none).ok());
    for (uint64_t idle = 0; !none.over; ++idle) {
      if (endpoint->Progress()) idle = 0;
      endpoint->polling()->Pause(idle);
    }
    ASSERT_TRUE(message.status.ok()) << message.status.ToString();
    EXPECT_EQ(message.lease.bytes, 100000u);
    EXPECT_EQ(message.lease.data[99999], std::byte{7});
    endpoint->ReleaseLease(message.lease);
    EXPECT_EQ(none.status.code(), StatusCode::kPeerLost);
    EXPECT_NE(none.status.message().find("rank 1 of the group (process " + std::to_string(child)),
              std::string::npos)
        << none.status.message();
    EXPECT_EQ(endpoint->PostSend(PointToPoint(group), 1, {nullptr, 0}, &none).code(),
              StatusCode::kPeerLost);
    EXPECT_EQ(endpoint->PostReceive(PointToPoint(group), 1, {nullptr, 1}, &none).code(),
              StatusCode::kPeerLost);
    endpoint->CloseGroup(group);
  }
  close(sockets[0]);
  close(sockets[1]);
}

// To end a send may give pages back to the system. A rank that has thousands to end receives in
// between.
TEST(ShmEndpoint, FewSendsEndAtOnce) {
  constexpr int kSends = 40;
  const std::unique_ptr<Endpoint> endpoint = NewEndpoint();
  const GroupId group = OpenAlone(endpoint.get());
  ByteSpan segment;
  ASSERT_TRUE(endpoint->domain()->Allocate(0, 4096, &segment).ok());
  std::vector<Operation> sent(kSends), received(kSends);
  for (Operation& one : sent) {
    ASSERT_TRUE(endpoint->PostSend(PointToPoint(group), 0, segment, &one).ok());
  }
  for (Operation& one : received) {
    ASSERT_TRUE(endpoint->PostReceive(PointToPoint(group), 0, {nullptr, 4096}, &one).ok());
  }
  const auto count = [](const std::vector<Operation>& all) {
    return std::count_if(all.begin(), all.end(), [](const Operation& one) { return one.over; });
  };
  while (count(received) < kSends) endpoint->Progress();
  ASSERT_EQ(count(sent), 0);
  for (const Operation& one : received) endpoint->ReleaseLease(one.lease);
  for (auto before = count(sent); before < kSends; before = count(sent)) {
    endpoint->Progress();
    EXPECT_GT(count(sent), before);
    EXPECT_LT(count(sent), before + kSends / 2);
  }
}

// A member that knows the lengths passes them to the others, without a trial.
TEST(ShmEndpoint, RanksAdoptTheKernelCopiesOfAMember) {
  InprocWorld world(2);
  const auto run = [&](int rank) {
    ShmOptions options;
    options.kernel_copies.reset();
    if (rank == 1) options.kernel_copies = KernelCopies::Both({123, 456});
    std::unique_ptr<Endpoint> endpoint;
    ASSERT_TRUE(CreateShmEndpoint(options, &endpoint).ok());
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
    GroupId group = -1;
    ASSERT_TRUE(endpoint->OpenGroup(bootstrap.get(), &group).ok());
    EXPECT_EQ(endpoint->edges()
                  ->EdgeTo(PointToPoint(group), 1 - rank)
                  ->peer_memory()
                  .kernel_copies()
                  .reads.most_bytes,
              456u);
    endpoint->CloseGroup(group);
    char here = 0, all[2];
    ASSERT_TRUE(bootstrap->AllGather(&here, 1, all).ok());
  };
  std::thread other([&] { run(1); });
  run(0);
  other.join();
}

// All ranks of a host use equal lengths, whichever rank measured them, in later groups, too.
TEST(ShmEndpoint, RanksOfAHostAgreeOnTheKernelCopies) {
  constexpr int kRanks = 2;
  if (std::thread::hardware_concurrency() < kRanks) GTEST_SKIP() << "one processor";
  bool is_tried = false;
  // Beside other programs a rank may come too late to a trial.
  for (int attempt = 0; attempt < 100 && !is_tried; ++attempt) {
    InprocWorld world(kRanks);
    KernelCopies copies[kRanks][2];
    const auto run = [&](int rank) {
      ShmOptions options;
      options.kernel_copies.reset();
      std::unique_ptr<Endpoint> endpoint;
      ASSERT_TRUE(CreateShmEndpoint(options, &endpoint).ok());
      const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
      for (KernelCopies& here : copies[rank]) {
        GroupId group = -1;
        ASSERT_TRUE(endpoint->OpenGroup(bootstrap.get(), &group).ok());
        here =
            endpoint->edges()->EdgeTo(PointToPoint(group), 1 - rank)->peer_memory().kernel_copies();
        endpoint->CloseGroup(group);
      }
      char here = 0, all[kRanks];
      ASSERT_TRUE(bootstrap->AllGather(&here, 1, all).ok());
    };
    std::thread other([&] { run(1); });
    run(0);
    other.join();
    const KernelCopies& first = copies[0][0];
    is_tried = first.is_tried;
    for (const auto& of_rank : copies) {
      for (const KernelCopies& each : of_rank) {
        EXPECT_EQ(each.writes.least_bytes, first.writes.least_bytes);
        EXPECT_EQ(each.writes.most_bytes, first.writes.most_bytes);
        EXPECT_EQ(each.reads.least_bytes, first.reads.least_bytes);
        EXPECT_EQ(each.reads.most_bytes, first.reads.most_bytes);
        EXPECT_EQ(each.is_tried, is_tried);
      }
    }
  }
  if (!is_tried) GTEST_SKIP() << "other programs compute here, and no trial ended in time";
}

// A progress thread that sleeps, and the events that wake it: any other event shows as a sleep of
// full length.
class ShmProgressThread : public testing::Test {
 protected:
  static constexpr int kLongUs = 20000000;
  static constexpr int kShortUs = 20000;

  // Whether `happen` ends a sleep of at most so long.
  bool Wakes(int longest_us, const std::function<void()>& happen) {
    endpoint_->polling()->Await(0);  // arms the doorbell
    endpoint_->Progress();
    const auto start = std::chrono::steady_clock::now();
    std::thread sleeper([&] { endpoint_->polling()->Await(longest_us); });
    happen();
    sleeper.join();
    return std::chrono::steady_clock::now() - start < std::chrono::microseconds(longest_us);
  }
  void SendControlMessage(Urgency urgency) {
    ASSERT_TRUE(endpoint_->SendControl(group_, 0, segment_, urgency).ok());
  }
  void SendSegment() {
    ASSERT_TRUE(endpoint_->PostSend(PointToPoint(group_), 0, segment_, &sent_).ok());
  }
  void SendInline() {
    OutEdge* const out = endpoint_->edges()->EdgeTo({group_, ChannelKind::kAll}, 0);
    Slot* const slot = out->Next();
    slot->kind = Slot::kInline;
    slot->bytes = 8;
    out->Publish(slot);
  }

  const std::unique_ptr<Endpoint> endpoint_ = NewEndpoint();
  const GroupId group_ = OpenAlone(endpoint_.get());
  const std::byte bytes_[8] = {};
  const ConstByteSpan segment_{bytes_, sizeof(bytes_)};
  Operation sent_;
};

TEST_F(ShmProgressThread, IsWokenByAControlMessage) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(Wakes(kLongUs, [&] { SendControlMessage(Urgency::kCanWait); }));
    EXPECT_TRUE(Wakes(kLongUs, [&] { SendControlMessage(Urgency::kUrgent); }));
  }
}

TEST_F(ShmProgressThread, IsWokenByTheSegmentThatAControlMessageAnnounced) {
  EXPECT_FALSE(Wakes(kShortUs, [&] { SendControlMessage(Urgency::kWithNext); }));
  EXPECT_TRUE(Wakes(kLongUs, [&] { SendSegment(); }));
  EXPECT_TRUE(Wakes(kLongUs, [&] {
    SendControlMessage(Urgency::kWithNext);
    SendControlMessage(Urgency::kCanWait);
  }));
  EXPECT_TRUE(Wakes(kLongUs, [&] { SendSegment(); })) << "of the first of the two control messages";
  EXPECT_FALSE(Wakes(kShortUs, [&] { SendSegment(); })) << "which nobody announced";
}

TEST_F(ShmProgressThread, IsWokenByASegmentThatIsGivenBack) {
  ByteSpan memory;
  ASSERT_TRUE(endpoint_->domain()->Allocate(0, 4096, &memory).ok());
  ASSERT_TRUE(endpoint_->PostSend(PointToPoint(group_), 0, memory, &sent_).ok());
  Operation received;
  ASSERT_TRUE(endpoint_->PostReceive(PointToPoint(group_), 0, {nullptr, SIZE_MAX}, &received).ok());
  while (!received.over) endpoint_->Progress();
  // Another expected message makes checks of released segments rare, except in a progress thread.
  Operation expected;
  ASSERT_TRUE(
      endpoint_->PostReceive({group_, ChannelKind::kRow}, 0, {nullptr, SIZE_MAX}, &expected).ok());
  EXPECT_FALSE(sent_.over);
  EXPECT_TRUE(Wakes(kLongUs, [&] { endpoint_->ReleaseLease(received.lease); }));
  endpoint_->Progress();
  EXPECT_TRUE(sent_.over);
}

TEST_F(ShmProgressThread, IsWokenByRoomForControlMessages) {
  const auto takes_one = [&] {
    return endpoint_->SendControl(group_, 0, segment_, Urgency::kWithNext).ok();
  };
  int sent = 0;
  // The last waits for one that there is no room for.
  EXPECT_TRUE(Wakes(kLongUs, [&] {
    while (takes_one()) ++sent;
  }));
  EXPECT_GT(sent, 0);
  EXPECT_TRUE(Wakes(kLongUs, [&] { endpoint_->Progress(); }));
  EXPECT_TRUE(takes_one());
}

TEST_F(ShmProgressThread, IsNotWokenByALine) {
  EXPECT_FALSE(Wakes(kShortUs, [&] { SendInline(); }));
}

}  // namespace
}  // namespace brigade
