#include "patterns/model/link_estimate.h"

#include "gtest/gtest.h"

namespace brigade {
namespace {

// A link of 50 MB/s that passes 16 KiB at once, 40 us away; sends take 0.5 ns a byte.
EdgeTimes SlowLink() {
  EdgeTimes times;
  times.hop_us = 40;
  times.long_us = 40 + (kLongProbeBytes - (16 << 10)) / 50.0;
  times.longer_us = 40 + (kLongerProbeBytes - (16 << 10)) / 50.0;
  times.call_byte_us = 0.0005;
  times.processor_byte_us = 0.002;
  times.segment_us = 10;
  return times;
}

EdgeKind Tcp(double ranks_per_processor) {
  return {/*within_host=*/false, /*shares_memory=*/false, 1000, 0.00003, ranks_per_processor};
}

// TCP on one host: 2 GB/s, all of it work.
EdgeTimes OneHost(double ranks_per_processor) {
  EdgeTimes times;
  times.hop_us = 30;
  times.long_us = 30 + kLongProbeBytes * 0.0005 * ranks_per_processor;
  times.longer_us = 30 + kLongerProbeBytes * 0.0005 * ranks_per_processor;
  times.call_byte_us = 0.0002;
  times.processor_byte_us = 0.0005;
  return times;
}

TEST(LinkFrom, ASlowLinkIsAsSlowAsItIs) {
  for (const double crowd : {1, 2, 4}) {
    const Link link = LinkFrom(SlowLink(), Tcp(crowd));
    EXPECT_NEAR(link.mb_s, 50, 0.1);
    EXPECT_NEAR(static_cast<double>(link.burst_bytes), 16 << 10, 100);
    EXPECT_EQ(link.eager_bytes, 1000u);
    EXPECT_NEAR(link.send_overhead.mb_s, crowd == 1 ? 4000 : 1000, 1);
  }
}

// A rank that waits for a link may spend all of its time looking.
TEST(LinkFrom, LookingIsNoWork) {
  for (const double crowd : {1, 4}) {
    EdgeTimes times = SlowLink();
    times.processor_byte_us = 1.2 / 50 / crowd;
    const Link link = LinkFrom(times, Tcp(crowd));
    EXPECT_NEAR(link.mb_s, 50, 0.1);
    EXPECT_GT(link.burst_bytes, 0u);
    EXPECT_NEAR(link.send_overhead.mb_s, 4000, 1);  // as long as calls last
  }
}

// Where processors are the limit, the link is none, and has nothing to save up.
TEST(LinkFrom, ProcessorsMayBeTheLimit) {
  for (const double crowd : {1, 4}) {
    const Link link = LinkFrom(OneHost(crowd), Tcp(crowd));
    EXPECT_NEAR(link.mb_s, 4 * 2000 / crowd, 1);
    EXPECT_EQ(link.burst_bytes, 0u);
    EXPECT_NEAR(link.send_overhead.mb_s, 4000, 1);
    EXPECT_NEAR(link.receive_overhead.mb_s, 4000, 1);
  }
}

// Ranks of one host may have processors to spare, and still it is work that they wait for.
TEST(LinkFrom, WithinAHostIsNoLink) {
  EdgeTimes times = OneHost(1);
  times.processor_byte_us /= 3;
  EdgeKind kind = Tcp(1.5);
  EXPECT_NEAR(LinkFrom(times, kind).mb_s, 2000, 1);
  kind.within_host = true;
  const Link link = LinkFrom(times, kind);
  EXPECT_NEAR(link.mb_s, 4 * 2000, 1);
  EXPECT_EQ(link.burst_bytes, 0u);
  EXPECT_NEAR(link.send_overhead.mb_s, 12000, 1);
}

// There all work on bytes is copies, of which the model knows by itself.
TEST(LinkFrom, BytesInSharedMemoryAreCopies) {
  EdgeKind kind = Tcp(1);
  kind.within_host = kind.shares_memory = true;
  const Link link = LinkFrom(SlowLink(), kind);
  EXPECT_NEAR(link.mb_s, 200, 1);
  EXPECT_EQ(link.burst_bytes, 0u);
  EXPECT_EQ(link.send_overhead.mb_s, Link().send_overhead.mb_s);
}

TEST(LinkFrom, AMessageIsAHop) {
  EdgeTimes times = SlowLink();
  for (const double segment_us : {0, 10, 1000}) {
    times.segment_us = segment_us;
    const Link link = LinkFrom(times, Tcp(1));
    const double bytes_us = 40 / link.mb_s;  // eight, and the header
    EXPECT_GE(link.latency_us, 0);
    EXPECT_NEAR(link.latency_us + link.send_overhead.message_us + link.receive_overhead.message_us,
                40, bytes_us + 0.1);
  }
}

// A rank copies each byte of a message in, and one that comes out: so do all that share a
// processor.
TEST(SharedMemoryLink, MessageOverheadIsSegmentTimeMinusCopyTime) {
  for (const double crowd : {1, 4}) {
    const double copy_us = 0.0002;
    EdgeTimes times;
    times.hop_us = 5;
    times.long_us = 5 + crowd * 2 * copy_us * kLongProbeBytes;
    times.longer_us = 5 + crowd * 2 * copy_us * kLongerProbeBytes;
    EXPECT_NEAR(StagedByteUs(times, crowd), copy_us, 1e-9);
    for (const int ranks : {2, 8}) {
      // Half of a message for either of two.
      times.segment_us = crowd * (kSegmentProbeBytes * copy_us + (ranks == 2 ? 0.4 : 0.8));
      const Link link = SharedMemoryLink(times, ranks, crowd);
      EXPECT_NEAR(link.send_overhead.message_us, 0.4, 1e-6);
      EXPECT_NEAR(link.receive_overhead.message_us, 0.4, 1e-6);
      EXPECT_NEAR(link.latency_us, 4.2, 1e-6);
      EXPECT_EQ(link.mb_s, kUnlimitedRate);
    }
  }
}

// A longer message that came first was not slower, whatever it says.
TEST(LinkFrom, TheRateIsFiniteOnABusyMachine) {
  EdgeTimes times = SlowLink();
  times.longer_us = times.long_us / 2;
  const Link link = LinkFrom(times, Tcp(1));
  EXPECT_GT(link.mb_s, 0);
  EXPECT_LT(link.mb_s, 1e4);
  EXPECT_TRUE(IsSensible(times));
  EXPECT_FALSE(IsSensible(EdgeTimes()));
}

}  // namespace
}  // namespace brigade
