#include "transport/tcp/grants.h"

#include <vector>

#include "transport/tcp/link/link_fixture.h"

namespace brigade::tcp {
namespace {

constexpr size_t kShort = 100;
constexpr size_t kLong = kEagerBytes + 1;

class GrantsTest : public LinkFixture {
 protected:
  GrantsTest() {
    stream_.link = other_.link = &link_;
    stream_.wire_id = 1;
    other_.wire_id = 2;
  }
  void Post(Stream* stream, size_t bytes) {
    ReceiveStream::Arrival arrival;
    EXPECT_FALSE(stream->in.Post({ByteSpan{nullptr, bytes}, false, nullptr}, &arrival));
    grants_.OnPosted(stream);
  }
  // The groups in which the peer was granted receives since the last time.
  std::vector<uint32_t> Granted() {
    std::vector<uint32_t> groups;
    for (const Frame& frame : Heard(0)) {
      EXPECT_EQ(frame.kind, FrameKind::kGrant);
      groups.push_back(frame.group);
      last_ = frame;
    }
    return groups;
  }
  using Groups = std::vector<uint32_t>;

  Stream stream_;
  Stream other_;
  Grants grants_;
  Frame last_;
};

// A sender that knows of one place comes back; of more it learns then.
TEST_F(GrantsTest, ALongReceiveIsGrantedAtOnceAndMoreTogether) {
  Connect(/*by_peer=*/true);
  Post(&stream_, kLong);
  EXPECT_EQ(Granted(), Groups{1});
  Post(&stream_, kLong);
  Post(&stream_, kLong);
  Post(&other_, kLong);
  EXPECT_EQ(Granted(), Groups{});
  grants_.SendQueued();
  EXPECT_EQ(Granted(), (Groups{1, 2}));
  grants_.SendQueued();
  Post(&stream_, kLong);
  EXPECT_EQ(Granted(), Groups{1});
  EXPECT_EQ(last_.count, 4u);
}

TEST_F(GrantsTest, AShortReceiveIsGrantedBeforeTheRankSleeps) {
  Connect(/*by_peer=*/true);
  Post(&stream_, kShort);
  Post(&other_, kShort);
  Post(&stream_, kShort);
  grants_.SendQueued();
  EXPECT_EQ(Granted(), Groups{});
  grants_.SendAll();
  EXPECT_EQ(Granted(), (Groups{1, 2}));
  grants_.SendAll();
  EXPECT_EQ(Granted(), Groups{});
}

// The grants are sent with the next frames.
TEST_F(GrantsTest, ShortReceivesAreGrantedWhenTheirSenderMightHaveToStop) {
  Connect(/*by_peer=*/true);
  constexpr size_t kBytes = kEagerBytes / 4;
  constexpr size_t kMost = kEagerWindowBytes / EagerCost(kBytes);
  std::vector<std::byte> receive_buffer(kBytes);
  ReceiveStream::Arrival arrival;
  for (size_t i = 0; i < kMost; ++i) {
    EXPECT_FALSE(stream_.in.Post({{receive_buffer.data(), kBytes}, false, nullptr}, &arrival));
    grants_.OnPosted(&stream_);
  }
  size_t arrived = 0;
  for (; !link_.outbox()->has_grants() && arrived < kMost; ++arrived) {
    ByteSpan where;
    ASSERT_TRUE(stream_.in.Begin(kBytes, &where));
    ASSERT_TRUE(stream_.in.End(&arrival));
    grants_.OnArrival(&stream_);
  }
  EXPECT_GT(arrived, 1u);
  EXPECT_LT(arrived, kMost);
  EXPECT_EQ(Granted(), Groups{});
  link_.Pump();
  EXPECT_EQ(Granted(), Groups{1});
  EXPECT_EQ(last_.count, kMost);
}

TEST_F(GrantsTest, WithoutAConnectionTheyWaitForOne) {
  for (const size_t bytes : {kShort, kLong}) Post(&stream_, bytes);
  grants_.SendAll();
  Connect(/*by_peer=*/true);
  grants_.SendAll();
  EXPECT_EQ(Granted(), Groups{1});
  EXPECT_EQ(last_.count, 2u);
}

TEST_F(GrantsTest, ALostPeerIsGrantedNothing) {
  Connect(/*by_peer=*/true);
  Post(&stream_, kShort);
  link_.BecomeLost(Status(StatusCode::kPeerLost, "gone"), io_.get());
  grants_.SendAll();
  EXPECT_FALSE(stream_.grant_deferred);
  EXPECT_EQ(Granted(), Groups{});
  link_.DestroyConnections();
}

// Its stream may go at any moment, while others are being granted.
TEST_F(GrantsTest, AClosedGroupsReceivesAreNotGrantedLater) {
  Connect(/*by_peer=*/true);
  Post(&stream_, kShort);
  Post(&other_, kShort);
  grants_.CancelDeferred(&stream_);
  EXPECT_FALSE(stream_.grant_deferred);
  grants_.SendAll();
  EXPECT_EQ(Granted(), Groups{2});
}

TEST_F(GrantsTest, AStreamThatGoesIsNowhere) {
  Connect(/*by_peer=*/true);
  {
    Stream streams[2];
    for (Stream& stream : streams) stream.link = &link_;
    Post(&streams[0], kShort);
    Post(&streams[1], kLong);
    Granted();
    Post(&streams[1], kLong);  // goes with the next
    for (Stream& stream : streams) grants_.Remove(&stream);
  }
  grants_.SendAll();
  grants_.SendQueued();
  EXPECT_EQ(Granted(), Groups{});
  Stream with_oneself;
  grants_.Remove(&with_oneself);
}

}  // namespace
}  // namespace brigade::tcp
