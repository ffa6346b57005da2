#include "transport/tcp/link/outbox.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace brigade::tcp {
namespace {

class OutboxTest : public ::testing::Test {
 protected:
  // A stream with `sends` short segments and `receives` posted receives.
  void Fill(Stream* stream, uint32_t wire_id, int sends, int receives) {
    stream->wire_id = wire_id;
    stream->kind = ChannelKind::kColumn;
    for (int i = 0; i < sends; ++i) stream->out.Push({{data_, sizeof(data_)}, nullptr});
    ReceiveStream::Arrival arrival;
    for (int i = 0; i < receives; ++i) {
      ASSERT_FALSE(stream->in.Post({ByteSpan{data_, sizeof(data_)}, false, nullptr}, &arrival));
    }
  }

  std::byte data_[8] = {};
  Outbox outbox_;
};

TEST_F(OutboxTest, StreamsSendInTurns) {
  Stream streams[3];
  for (uint32_t i = 0; i < 3; ++i) {
    Fill(&streams[i], i, 2, 0);
    outbox_.AddSend(&streams[i]);
    outbox_.AddSend(&streams[i]);
  }
  std::vector<uint32_t> order;
  for (Outbox::Send send; outbox_.NextSend(&send);) order.push_back(send.frame.group);
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_FALSE(outbox_.has_sends());
}

TEST_F(OutboxTest, AStreamWithoutAPlaceForItsSegmentDoesNotSend) {
  Stream stream;
  std::vector<std::byte> longer(kEagerBytes + 1);
  stream.out.Push({{longer.data(), longer.size()}, nullptr});
  outbox_.AddSend(&stream);
  EXPECT_FALSE(outbox_.has_sends());
  stream.out.OnGrant(1);
  outbox_.AddSend(&stream);
  Outbox::Send send;
  ASSERT_TRUE(outbox_.NextSend(&send));
  EXPECT_EQ(send.stream, &stream);
  EXPECT_EQ(send.frame.bytes, longer.size());
}

TEST_F(OutboxTest, ASegmentTakesTheGrantAlong) {
  Stream stream;
  Fill(&stream, 7, 1, 3);
  outbox_.AddGrant(&stream);
  outbox_.AddSend(&stream);
  Outbox::Send send;
  ASSERT_TRUE(outbox_.NextSend(&send));
  EXPECT_EQ(send.frame.kind, FrameKind::kSegment);
  EXPECT_EQ(send.frame.count, 3u);
  EXPECT_EQ(send.frame.channel, static_cast<uint8_t>(ChannelKind::kColumn));
  Frame grant;
  EXPECT_FALSE(outbox_.NextGrant(&grant));
}

TEST_F(OutboxTest, AGrantSaysHowManyReceivesWerePosted) {
  Stream stream;
  Fill(&stream, 7, 0, 2);
  outbox_.AddGrant(&stream);
  outbox_.AddGrant(&stream);
  Frame grant;
  ASSERT_TRUE(outbox_.NextGrant(&grant));
  EXPECT_EQ(grant.kind, FrameKind::kGrant);
  EXPECT_EQ(grant.group, 7u);
  EXPECT_EQ(grant.count, 2u);
  EXPECT_EQ(grant.bytes, 0u);
  EXPECT_FALSE(outbox_.NextGrant(&grant));
  EXPECT_FALSE(stream.in.ungranted());
}

TEST_F(OutboxTest, AStreamThatGoesLeavesNoGrant) {
  Stream gone, stays;
  Fill(&gone, 1, 0, 1);
  Fill(&stays, 2, 0, 1);
  outbox_.AddGrant(&gone);
  outbox_.AddGrant(&stays);
  outbox_.RemoveGrant(&gone);
  Frame grant;
  ASSERT_TRUE(outbox_.NextGrant(&grant));
  EXPECT_EQ(grant.group, 2u);
  EXPECT_FALSE(outbox_.NextGrant(&grant));
}

TEST_F(OutboxTest, TheSameNoticeWaitsOnce) {
  outbox_.AddNotice(FrameKind::kClosed, 1, 7);
  outbox_.AddNotice(FrameKind::kClosed, 1, 7);
  outbox_.AddNotice(FrameKind::kWaiting, 1, 7);
  outbox_.AddNotice(FrameKind::kClosed, 2, 7);
  outbox_.AddNotice(FrameKind::kClosed, 1, 8);
  int notices = 0;
  for (Frame notice; outbox_.NextNotice(&notice);) ++notices;
  EXPECT_EQ(notices, 4);
}

TEST_F(OutboxTest, AfterClearStreamsQueueAnew) {
  Stream stream;
  Fill(&stream, 7, 1, 1);
  outbox_.AddNotice(FrameKind::kClosed, 1, 7);
  outbox_.AddGrant(&stream);
  outbox_.AddSend(&stream);
  outbox_.Clear();
  Frame frame;
  Outbox::Send send;
  EXPECT_FALSE(outbox_.NextNotice(&frame));
  EXPECT_FALSE(outbox_.NextGrant(&frame));
  EXPECT_FALSE(outbox_.NextSend(&send));
  outbox_.AddGrant(&stream);
  outbox_.AddSend(&stream);
  EXPECT_TRUE(outbox_.NextGrant(&frame));
  EXPECT_TRUE(outbox_.NextSend(&send));
}

}  // namespace
}  // namespace brigade::tcp
