#include "transport/tcp/wire/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

constexpr size_t kMaxSegmentBytes = 100000;
constexpr size_t kEverything = SIZE_MAX;

// The payload of a segment of group `group`.
std::string Payload(uint32_t group, size_t bytes) {
  std::string payload(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) payload[i] = static_cast<char>('a' + (group * 7 + i) % 26);
  return payload;
}

std::string Encoded(FrameKind kind, uint32_t group, uint32_t bytes = 0) {
  std::string text(kFrameBytes, '\0');
  WriteFrame({group, bytes, 5, kind, 1}, reinterpret_cast<std::byte*>(&text[0]));
  return text + Payload(group, bytes);
}
std::string Segment(uint32_t group, uint32_t bytes) {
  return Encoded(FrameKind::kSegment, group, bytes);
}

// Records each event as a line, and lands segments in memory of its own.
class NotingSink : public FrameSink {
 public:
  Status BeginSegment(const Frame& frame, ByteSpan* where) override {
    EXPECT_EQ(where->bytes, 0u);
    events.push_back("begin " + std::to_string(frame.group));
    // Bytes behind the place must not change.
    receive_buffer.assign(std::min(frame.bytes + size_t{10}, place_bytes) + kGuardBytes, '.');
    *where = {reinterpret_cast<std::byte*>(&receive_buffer[0]),
              receive_buffer.size() - kGuardBytes};
    return refuse_begin;
  }
  Status EndSegment(const Frame& frame) override {
    receive_buffer.resize(receive_buffer.size() - kGuardBytes);
    events.push_back("end " + std::to_string(frame.group) + " " + receive_buffer);
    return refuse_end;
  }
  Status Control(const Frame& frame, ConstByteSpan message) override {
    events.push_back("message " + std::to_string(frame.group) + " " +
                     std::string(reinterpret_cast<const char*>(message.data), message.bytes));
    return refuse_control;
  }
  Status Notice(const Frame& frame) override {
    events.push_back("control " + std::to_string(static_cast<int>(frame.kind)) + " " +
                     std::to_string(frame.group) + " " + std::to_string(frame.count));
    return refuse_control;
  }

  static constexpr size_t kGuardBytes = 16;
  size_t place_bytes = kEverything;
  Status refuse_begin;
  Status refuse_end;
  Status refuse_control;

  std::string receive_buffer;
  std::vector<std::string> events;
};

class FrameReaderTest : public ::testing::Test {
 protected:
  // Puts `bytes`, from the front of the stream, where they are wanted. Returns how many fitted.
  size_t Put(const std::string& bytes) {
    iovec targets[2];
    const int used = reader_.Targets(targets);
    size_t put = 0;
    for (int i = 0; i < used; ++i) {
      const size_t here = std::min(targets[i].iov_len, bytes.size() - put);
      std::memcpy(targets[i].iov_base, bytes.data() + put, here);
      put += here;
    }
    return put;
  }

  // The stream comes in runs of `run_bytes`.
  Status Feed(const std::string& stream, size_t run_bytes = kEverything) {
    for (size_t at = 0; at < stream.size();) {
      const size_t put = Put(stream.substr(at, run_bytes));
      at += put;
      BRIGADE_RETURN_IF_ERROR(reader_.Accept(put));
    }
    return Status();
  }

  NotingSink sink_;
  FrameReader reader_{&sink_, kMaxSegmentBytes};
};

using Events = std::vector<std::string>;

// A payload in a place that is longer by ten bytes.
std::string EndOf(uint32_t group, size_t bytes) {
  return "end " + std::to_string(group) + " " + Payload(group, bytes) + std::string(10, '.');
}

class SplitTest : public FrameReaderTest, public ::testing::WithParamInterface<size_t> {};

TEST_P(SplitTest, DeliversTheSameHoweverTheStreamIsCut) {
  const std::string stream =
      Encoded(FrameKind::kGrant, 1) + Segment(2, 10000) + Segment(3, 0) +
      Encoded(FrameKind::kClosed, 4) + Segment(5, 1) + Segment(6, 5000) + Segment(7, 4096) +
      Segment(8, 4080) + Encoded(FrameKind::kControl, 1, 48) + Encoded(FrameKind::kControl, 2, 0) +
      Segment(3, 2) + Encoded(FrameKind::kControl, 4, 7) + Encoded(FrameKind::kShutdown, 9);
  ASSERT_TRUE(Feed(stream, GetParam()).ok());
  EXPECT_FALSE(reader_.within_frame());
  EXPECT_EQ(sink_.events, (Events{"control 2 1 5",
                                  "begin 2",
                                  EndOf(2, 10000),
                                  "begin 3",
                                  EndOf(3, 0),
                                  "control 3 4 5",
                                  "begin 5",
                                  EndOf(5, 1),
                                  "begin 6",
                                  EndOf(6, 5000),
                                  "begin 7",
                                  EndOf(7, 4096),
                                  "begin 8",
                                  EndOf(8, 4080),
                                  "message 1 " + Payload(1, 48),
                                  "message 2 ",
                                  "begin 3",
                                  EndOf(3, 2),
                                  "message 4 " + Payload(4, 7),
                                  "control 4 9 5"}));
}

INSTANTIATE_TEST_SUITE_P(RunBytes, SplitTest,
                         ::testing::Values(1, 2, 3, 15, 16, 17, 100, 4079, 4080, 4081, 4096, 5000,
                                           kEverything));

TEST_F(FrameReaderTest, ALongSegmentGoesStraightToItsPlace) {
  const std::string segment = Segment(1, 50000);
  ASSERT_TRUE(Feed(segment.substr(0, 1000)).ok());
  iovec targets[2];
  ASSERT_EQ(reader_.Targets(targets), 2);
  EXPECT_EQ(targets[0].iov_base, &sink_.receive_buffer[1000 - kFrameBytes]);
  EXPECT_EQ(targets[0].iov_len, segment.size() - 1000);
  EXPECT_EQ(targets[1].iov_len, 4096u);
}

TEST_F(FrameReaderTest, KnowsWhereAStreamMayEnd) {
  const std::string segment = Segment(1, 3);
  for (size_t i = 0; i < segment.size(); ++i) {
    EXPECT_EQ(reader_.within_frame(), i > 0) << i;
    ASSERT_TRUE(Feed(segment.substr(i, 1)).ok());
  }
  EXPECT_FALSE(reader_.within_frame());
}

TEST_F(FrameReaderTest, DiscardsTheBytesBeyondThePlace) {
  const std::string stream = Segment(1, 20000) + Segment(2, 30);
  for (const size_t run_bytes : {size_t{1}, size_t{1000}, kEverything}) {
    sink_.events.clear();
    sink_.place_bytes = 50;
    ASSERT_TRUE(Feed(stream, run_bytes).ok());
    EXPECT_EQ(sink_.events,
              (Events{"begin 1", "end 1 " + Payload(1, 50), "begin 2", EndOf(2, 30)}));
    sink_.events.clear();
    sink_.place_bytes = 0;
    ASSERT_TRUE(Feed(stream, run_bytes).ok());
    EXPECT_EQ(sink_.events, (Events{"begin 1", "end 1 ", "begin 2", "end 2 "}));
  }
}

TEST_F(FrameReaderTest, WritesNothingBehindThePlace) {
  sink_.place_bytes = 50;
  ASSERT_TRUE(Feed(Segment(1, 20000).substr(0, 19000)).ok());
  EXPECT_EQ(sink_.receive_buffer, Payload(1, 50) + std::string(NotingSink::kGuardBytes, '.'));
}

TEST_F(FrameReaderTest, RedirectLeavesThePlaceAlone) {
  const std::string segment = Segment(1, 20000);
  ASSERT_TRUE(Feed(segment.substr(0, 1000)).ok());
  const std::string landed = sink_.receive_buffer;
  reader_.Redirect();
  ASSERT_TRUE(Feed(segment.substr(1000) + Segment(2, 3)).ok());
  EXPECT_EQ(sink_.events,
            (Events{"begin 1", "end 1 " + landed.substr(0, landed.size() - NotingSink::kGuardBytes),
                    "begin 2", EndOf(2, 3)}));
}

TEST_F(FrameReaderTest, RedirectDuringAReadKeepsTheStream) {
  const std::string stream = Segment(1, 2000) + Segment(2, 3);
  for (const size_t read_bytes : {size_t{10}, size_t{1000}, stream.size() - 1000}) {
    sink_.events.clear();
    ASSERT_TRUE(Feed(stream.substr(0, 1000)).ok());
    const size_t put = Put(stream.substr(1000, read_bytes));
    ASSERT_EQ(put, read_bytes);
    reader_.Redirect();
    ASSERT_TRUE(reader_.Accept(put).ok());
    ASSERT_TRUE(Feed(stream.substr(1000 + put)).ok());
    ASSERT_EQ(sink_.events.size(), 4u);
    EXPECT_EQ(sink_.events[1].substr(0, 6), "end 1 ");
    EXPECT_EQ(sink_.events[3], EndOf(2, 3));
  }
}

TEST_F(FrameReaderTest, RedirectWithinAControlMessageDoesNothing) {
  const std::string message = Encoded(FrameKind::kControl, 1, 40);
  ASSERT_TRUE(Feed(message.substr(0, 30)).ok());
  reader_.Redirect();
  ASSERT_TRUE(Feed(message.substr(30)).ok());
  EXPECT_EQ(sink_.events, (Events{"message 1 " + Payload(1, 40)}));
}

TEST_F(FrameReaderTest, RedirectWithoutASegmentDoesNothing) {
  reader_.Redirect();
  ASSERT_TRUE(Feed(Segment(1, 3)).ok());
  EXPECT_EQ(sink_.events, (Events{"begin 1", EndOf(1, 3)}));
}

TEST_F(FrameReaderTest, NonsenseEndsTheStream) {
  EXPECT_EQ(Feed(Encoded(FrameKind::kGrant, 1) + "GET / HTTP/1.1\r\n").code(),
            StatusCode::kInternal);
  EXPECT_EQ(sink_.events, (Events{"control 2 1 5"}));
}

TEST_F(FrameReaderTest, ASegmentIsNoLongerThanAllowed) {
  EXPECT_TRUE(Feed(Segment(1, kMaxSegmentBytes)).ok());
  EXPECT_EQ(Feed(Segment(1, kMaxSegmentBytes + 1)).code(), StatusCode::kInternal);
}

TEST_F(FrameReaderTest, AControlMessageIsNoLongerThanAllowed) {
  EXPECT_EQ(Feed(Encoded(FrameKind::kControl, 1, kMostControlBytes + 1)).code(),
            StatusCode::kInternal);
}

TEST_F(FrameReaderTest, AByteAfterAShutdownFrameIsRefused) {
  EXPECT_EQ(Feed(Encoded(FrameKind::kShutdown, 1) + "x").code(), StatusCode::kInternal);
  EXPECT_EQ(sink_.events, (Events{"control 4 1 5"}));
}

TEST_F(FrameReaderTest, ALaterByteAfterAShutdownFrameIsRefused) {
  ASSERT_TRUE(Feed(Encoded(FrameKind::kShutdown, 1)).ok());
  EXPECT_FALSE(reader_.within_frame());
  EXPECT_EQ(Feed("x").code(), StatusCode::kInternal);
}

TEST_F(FrameReaderTest, AnEndWhereTheSinkRefusesControl) {
  sink_.refuse_control = Status(StatusCode::kMismatch, "no control");
  EXPECT_EQ(Feed(Encoded(FrameKind::kClosed, 1)).message(), "no control");
}

TEST_F(FrameReaderTest, AnEndWhereTheSinkRefusesASegment) {
  sink_.refuse_begin = Status(StatusCode::kMismatch, "no segment");
  EXPECT_EQ(Feed(Segment(1, 3)).message(), "no segment");
  EXPECT_EQ(sink_.events, (Events{"begin 1"}));
}

TEST_F(FrameReaderTest, AnEndWhereTheSinkRefusesTheEndOfASegment) {
  sink_.refuse_end = Status(StatusCode::kMismatch, "no end");
  EXPECT_EQ(Feed(Segment(1, 20000)).message(), "no end");
}

TEST_F(FrameReaderTest, AnEndWhereTheSinkRefusesAnEmptySegment) {
  sink_.refuse_end = Status(StatusCode::kMismatch, "no end");
  EXPECT_EQ(Feed(Segment(1, 0)).message(), "no end");
}

}  // namespace
}  // namespace brigade
