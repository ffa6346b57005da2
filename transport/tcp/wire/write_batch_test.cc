#include "transport/tcp/wire/write_batch.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// Returns the bytes that a write of all ranges would send.
std::string Left(const WriteBatch& batch) {
  std::string bytes;
  for (size_t i = 0; i < batch.range_count(); ++i) {
    const iovec& range = batch.ranges()[i];
    bytes.append(static_cast<const char*>(range.iov_base), range.iov_len);
  }
  return bytes;
}

Frame SegmentFrame(uint32_t bytes) {
  Frame frame;
  frame.bytes = bytes;
  return frame;
}

std::string Wire(const Frame& frame) {
  std::string bytes(kFrameBytes, '\0');
  WriteFrame(frame, reinterpret_cast<std::byte*>(&bytes[0]));
  return bytes;
}

TEST(WriteBatchTest, AnEmptyOneIsWritten) {
  WriteBatch batch;
  EXPECT_TRUE(batch.written());
  EXPECT_EQ(batch.range_count(), 0u);
  batch.AddRange(nullptr, 0);
  EXPECT_EQ(batch.range_count(), 0u);
}

TEST(WriteBatchTest, FramesAndPayloadKeepTheirOrder) {
  WriteBatch batch;
  const std::string first = "first", second = "second";
  batch.AddFrame(SegmentFrame(5));
  batch.AddRange(first.data(), first.size());
  batch.AddFrame(SegmentFrame(6));
  batch.AddRange(second.data(), second.size());
  EXPECT_EQ(Left(batch), Wire(SegmentFrame(5)) + first + Wire(SegmentFrame(6)) + second);
  EXPECT_EQ(batch.bytes(), 2 * kFrameBytes + 11);
}

TEST(WriteBatchTest, AdjacentRangesAreOne) {
  WriteBatch batch;
  const std::string text = "abcdef";
  batch.AddRange(text.data(), 2);
  batch.AddRange(text.data() + 2, 3);
  EXPECT_EQ(batch.range_count(), 1u);
  batch.AddRange(text.data(), 1);
  EXPECT_EQ(batch.range_count(), 2u);
  EXPECT_EQ(Left(batch), "abcdea");
}

TEST(WriteBatchTest, TheRestIsRightAfterAnyPartialWrite) {
  const std::string payload = "payload";
  const std::string all = Wire(SegmentFrame(7)) + payload + Wire(SegmentFrame(0));
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    WriteBatch batch;
    batch.AddFrame(SegmentFrame(7));
    batch.AddRange(payload.data(), payload.size());
    batch.AddFrame(SegmentFrame(0));
    batch.Advance(cut);
    EXPECT_EQ(Left(batch), all.substr(cut)) << cut;
    EXPECT_EQ(batch.written_bytes(), cut);
    EXPECT_EQ(batch.written(), cut == all.size());
  }
}

TEST(WriteBatchTest, AKeptRestIsIndependentOfTheCallersMemory) {
  std::string payload = "payload";
  WriteBatch batch;
  batch.AddFrame(SegmentFrame(7));
  batch.AddRange(payload.data(), 3);
  batch.AddRange(payload.data() + 4, 3);
  batch.Advance(kFrameBytes + 2);
  EXPECT_EQ(batch.KeepRest(), 4u);
  payload.assign(7, 'x');
  EXPECT_EQ(Left(batch), "yoad");
  EXPECT_EQ(batch.bytes(), 4u);
  batch.Advance(4);
  EXPECT_TRUE(batch.written());
}

TEST(WriteBatchTest, FramesStayWhereTheyAreUntilThereIsNoRoom) {
  WriteBatch batch;
  std::string all;
  for (uint32_t i = 0; i < WriteBatch::kFrames; ++i) {
    ASSERT_TRUE(batch.has_room_for_frame());
    batch.AddFrame(SegmentFrame(i));
    all += Wire(SegmentFrame(i));
  }
  EXPECT_FALSE(batch.has_room_for_frame());
  EXPECT_FALSE(batch.has_room_for_segment());
  EXPECT_EQ(batch.range_count(), 1u);
  EXPECT_EQ(Left(batch), all);
  batch.Clear();
  EXPECT_TRUE(batch.has_room_for_frame());
  EXPECT_TRUE(batch.written());
}

TEST(WriteBatchTest, ALongSegmentFillsIt) {
  WriteBatch batch;
  const std::vector<std::byte> segment(WriteBatch::kBytes - kFrameBytes);
  batch.AddFrame(SegmentFrame(static_cast<uint32_t>(segment.size())));
  EXPECT_TRUE(batch.has_room_for_segment());
  batch.AddRange(segment.data(), segment.size());
  EXPECT_FALSE(batch.has_room_for_segment());
  EXPECT_TRUE(batch.has_room_for_frame());
}

TEST(WriteBatchTest, AHandshakeGoesAlone) {
  const std::string handshake(kHandshakeBytes, 'h');
  WriteBatch batch;
  batch.AddHandshake(reinterpret_cast<const std::byte*>(handshake.data()));
  EXPECT_EQ(Left(batch), handshake);
}

}  // namespace
}  // namespace brigade
