// Properties of inproc only; the conformance suite (test/) has the rest.

#include "transport/inproc/inproc_transport.h"

#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

struct Flag : Completion {
  Flag() : Completion([](Completion* c) { static_cast<Flag*>(c)->done = true; }) {}
  bool done = false;
};

TEST(InprocBootstrap, GathersAmongMembersInTheirOrder) {
  InprocWorld world(4);
  const std::vector<int> members = {3, 0, 2};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(members, rank);
      EXPECT_EQ(bootstrap->rank(), rank);
      EXPECT_EQ(bootstrap->size(), 3);
      for (int round = 0; round < 100; ++round) {
        const int mine = round * 10 + members[rank];
        int all[3] = {};
        EXPECT_TRUE(bootstrap->AllGather(&mine, sizeof(mine), all).ok());
        for (int i = 0; i < 3; ++i) EXPECT_EQ(all[i], round * 10 + members[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(InprocBootstrap, NoticesDifferentSizes) {
  InprocWorld world(2);
  auto gather = [&](int rank) {
    std::byte mine[8] = {}, all[16] = {};
    return world.MakeBootstrap(rank)->AllGather(mine, rank == 0 ? 4 : 8, all).code();
  };
  StatusCode other = StatusCode::kOk;
  std::thread thread([&] { other = gather(1); });
  EXPECT_EQ(gather(0), StatusCode::kMismatch);
  thread.join();
  EXPECT_EQ(other, StatusCode::kMismatch);
}

TEST(InprocBootstrap, DoesNotWaitForALostMember) {
  InprocWorld world(2);
  std::thread thread([&] { world.MarkLost(1); });
  char mine = 0, all[2];
  const Status status = world.MakeBootstrap(0)->AllGather(&mine, 1, all);
  EXPECT_EQ(status.code(), StatusCode::kPeerLost);
  EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
  thread.join();
}

TEST(InprocEndpoint, RefusesAForeignBootstrap) {
  class Foreign : public Bootstrap {
    int rank() const override { return 0; }
    int size() const override { return 1; }
    Status AllGather(const void*, size_t, void*) override { return Status(); }
  } foreign;
  InprocWorld world(1);
  GroupId group = -1;
  EXPECT_EQ(world.CreateEndpoint(0)->OpenGroup(&foreign, &group).code(), StatusCode::kUnavailable);
}

TEST(InprocEndpoint, LandsInPlaceWhereItShould) {
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(4, 3, 6, 1, &layout).ok());
  const LayoutRange one_column{&layout, nullptr, 4, 4};
  const LayoutRange two_columns{&layout, nullptr, 4, 8};
  InprocWorld world(1);
  const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(0);
  EXPECT_TRUE(endpoint->LandsInPlace(Channel(), 0, one_column));
  EXPECT_FALSE(endpoint->LandsInPlace(Channel(), 0, two_columns));
  for (bool in_peer_memory : {false, true}) {
    InprocOptions options;
    options.lands_in_peer_memory = in_peer_memory;
    options.lands_in_place = in_peer_memory;
    InprocWorld other(1, options);
    EXPECT_FALSE(other.CreateEndpoint(0)->LandsInPlace(Channel(), 0, one_column));
  }
}

// A rank that is waited for and dies without a word.
TEST(InprocEndpoint, DestroyingAnEndpointReleasesItsPeers) {
  InprocWorld world(2);
  const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(0);
  std::unique_ptr<Endpoint> peer = world.CreateEndpoint(1);
  Channel channel;
  std::thread thread([&] {
    GroupId group = -1;
    EXPECT_TRUE(peer->OpenGroup(world.MakeBootstrap(1).get(), &group).ok());
    peer.reset();
  });
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &channel.group).ok());
  Completion sent([](Completion*) {});
  const Status posted = endpoint->PostSend(channel, 1, ConstByteSpan(), &sent);
  thread.join();
  endpoint->Progress();
  EXPECT_EQ(posted.ok() ? sent.status.code() : posted.code(), StatusCode::kPeerLost);
}

// The receiver copies the bytes: the sender's next Progress completes the send, but is not needed
// for the transfer.
TEST(InprocEndpoint, ReturnedSendsNeedNoSender) {
  InprocWorld world(2);
  const std::unique_ptr<Endpoint> sender = world.CreateEndpoint(0);
  const std::unique_ptr<Endpoint> receiver = world.CreateEndpoint(1);
  Channel from, to;
  std::thread thread(
      [&] { EXPECT_TRUE(receiver->OpenGroup(world.MakeBootstrap(1).get(), &to.group).ok()); });
  ASSERT_TRUE(sender->OpenGroup(world.MakeBootstrap(0).get(), &from.group).ok());
  thread.join();
  Flag sent, received;
  std::byte segment[3] = {std::byte{1}, std::byte{2}, std::byte{3}}, receive_buffer[3];
  ASSERT_TRUE(sender->PostSend(from, 1, ConstByteSpan(segment, 3), &sent).ok());
  ASSERT_TRUE(receiver->PostReceive(to, 0, ByteSpan{receive_buffer, 3}, &received).ok());
  while (!received.done) receiver->Progress();
  EXPECT_EQ(receive_buffer[2], std::byte{3});
  EXPECT_FALSE(sent.done) << "callbacks run on the thread that calls Progress";
  sender->Progress();
  EXPECT_TRUE(sent.done);
}

// Its reader lives, and reads: a rank that is lost to the others must not take its memory away.
TEST(InprocEndpoint, ASendOfALostRankEndsWhenItsLeaseIsReleased) {
  InprocOptions options;
  options.lands_in_peer_memory = true;
  InprocWorld world(2, options);
  const std::unique_ptr<Endpoint> sender = world.CreateEndpoint(0);
  const std::unique_ptr<Endpoint> receiver = world.CreateEndpoint(1);
  Channel from, to;
  std::thread thread(
      [&] { EXPECT_TRUE(receiver->OpenGroup(world.MakeBootstrap(1).get(), &to.group).ok()); });
  ASSERT_TRUE(sender->OpenGroup(world.MakeBootstrap(0).get(), &from.group).ok());
  thread.join();
  Flag sent, received;
  std::byte segment[3] = {std::byte{1}, std::byte{2}, std::byte{3}}, receive_buffer[3];
  ASSERT_TRUE(sender->PostSend(from, 1, ConstByteSpan(segment, 3), &sent).ok());
  ASSERT_TRUE(receiver->PostReceive(to, 0, ByteSpan{receive_buffer, 3}, &received).ok());
  while (!received.done) receiver->Progress();
  ASSERT_EQ(received.lease.data, segment);
  world.MarkLost(0);
  sender->Progress();
  EXPECT_FALSE(sent.done);
  receiver->ReleaseLease(received.lease);
  sender->Progress();
  EXPECT_TRUE(sent.done);
}

// Leases that a rank released before it left count as released, even if other ranks are lost
// meanwhile.
TEST(InprocEndpoint, ARankThatReleasedItsLeasesMayLeave) {
  InprocOptions options;
  options.lands_in_peer_memory = true;
  for (int trial = 0; trial < 500; ++trial) {
    InprocWorld world(3, options);
    const std::unique_ptr<Endpoint> sender = world.CreateEndpoint(0);
    std::thread reader([&world] {
      const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(1);
      Channel channel;
      EXPECT_TRUE(endpoint->OpenGroup(world.MakeBootstrap({0, 1}, 1).get(), &channel.group).ok());
      Flag received;
      std::byte receive_buffer[3];
      EXPECT_TRUE(endpoint->PostReceive(channel, 0, ByteSpan{receive_buffer, 3}, &received).ok());
      while (!received.done) endpoint->Progress();
      world.MarkLost(2);
      endpoint->ReleaseLease(received.lease);
    });
    Channel channel;
    EXPECT_TRUE(sender->OpenGroup(world.MakeBootstrap({0, 1}, 0).get(), &channel.group).ok());
    Flag sent;
    std::byte segment[3] = {};
    EXPECT_TRUE(sender->PostSend(channel, 1, ConstByteSpan(segment, 3), &sent).ok());
    while (!sent.done) sender->Progress();
    reader.join();
    ASSERT_TRUE(sent.status.ok()) << sent.status.message() << ", trial " << trial;
  }
}

}  // namespace
}  // namespace brigade
