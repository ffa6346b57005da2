#include "transport/tcp/wire/wire.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/endpoint.h"

namespace brigade {
namespace {

constexpr size_t kMaxSegmentBytes = 1 << 20;

class HandshakeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeRandom(&from_).ok());
    ASSERT_TRUE(MakeRandom(&to_).ok());
    ASSERT_TRUE(MakeRandom(&key_).ok());
    WriteHandshake(key_, from_, to_, 7, handshake_);
  }

  // Returns the text of the refusal; empty if the handshake is accepted.
  std::string Refusal(const AuthKey& mine, const EndpointId& me) {
    EndpointId from;
    uint32_t serial = 0;
    const Status status = ReadHandshake(mine, me, handshake_, &from, &serial);
    if (status.ok()) {
      EXPECT_TRUE(from == from_);
      EXPECT_EQ(serial, 7u);
    } else {
      EXPECT_EQ(status.code(), StatusCode::kMismatch);
      EXPECT_TRUE(from == EndpointId());
      EXPECT_EQ(serial, 0u);
      EXPECT_FALSE(status.message().empty());
    }
    return status.message();
  }

  EndpointId from_;
  EndpointId to_;
  AuthKey key_;
  std::byte handshake_[kHandshakeBytes];
};

TEST_F(HandshakeTest, IsReadByTheOneItIsFor) { EXPECT_EQ(Refusal(key_, to_), ""); }

TEST_F(HandshakeTest, IsRefusedByAnybodyElse) {
  EXPECT_EQ(Refusal(key_, from_), "a handshake for another endpoint");
  AuthKey other;
  ASSERT_TRUE(MakeRandom(&other).ok());
  EXPECT_EQ(Refusal(other, to_), "a handshake with a wrong authentication code");
}

TEST_F(HandshakeTest, NoBitOfItMayChange) {
  for (size_t bit = 0; bit < 8 * kHandshakeBytes; ++bit) {
    const auto mask = std::byte{1} << (bit % 8);
    handshake_[bit / 8] ^= mask;
    EXPECT_NE(Refusal(key_, to_), "") << "bit " << bit;
    handshake_[bit / 8] ^= mask;
  }
  EXPECT_EQ(Refusal(key_, to_), "");
}

TEST_F(HandshakeTest, OtherProtocolsAreNamed) {
  std::memcpy(handshake_, "GET / HT", 8);
  EXPECT_EQ(Refusal(key_, to_), "not a Brigade handshake");
  WriteHandshake(key_, from_, to_, 7, handshake_);
  handshake_[8] = std::byte{3};
  EXPECT_EQ(Refusal(key_, to_), "a handshake of version 3, this is version 2");
}

TEST_F(HandshakeTest, KeepsItsBytes) {
  // Other releases of this library, and other machines, must produce equal bytes. The code is
  // HMAC-SHA-512, cut to 32 bytes; this one was computed by another implementation.
  AuthKey key;
  for (size_t i = 0; i < sizeof(key.bytes); ++i) key.bytes[i] = static_cast<unsigned char>(i);
  const EndpointId from = {{0x0102030405060708, 9}};
  const EndpointId to = {{10, 11}};
  WriteHandshake(key, from, to, 0x0d0c0b0a, handshake_);
  std::string hex;
  for (const std::byte b : handshake_) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[std::to_integer<int>(b) / 16];
    hex += kDigits[std::to_integer<int>(b) % 16];
  }
  EXPECT_EQ(hex,
            "627269676164650a"
            "02000000"
            "0a0b0c0d"
            "08070605040302010900000000000000"
            "0a000000000000000b00000000000000"
            "6ad73a5932df2d151f4932d47871c7d4"
            "2d88ef19ee30234f4807a6bb2e08537c");
}

TEST(RandomTest, NeverComesTwice) {
  std::vector<EndpointId> ids(100);
  for (EndpointId& id : ids) ASSERT_TRUE(MakeRandom(&id).ok());
  std::sort(ids.begin(), ids.end());
  EXPECT_TRUE(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  // Every byte of a key is random: none is the same in all keys.
  AuthKey first;
  ASSERT_TRUE(MakeRandom(&first).ok());
  for (size_t i = 0; i < sizeof(first.bytes); ++i) {
    AuthKey key = first;
    for (int tries = 0; tries < 20 && key.bytes[i] == first.bytes[i]; ++tries) {
      ASSERT_TRUE(MakeRandom(&key).ok());
    }
    EXPECT_NE(key.bytes[i], first.bytes[i]) << "byte " << i;
  }
}

TEST(EndpointIdTest, OrdersByBothWords) {
  const EndpointId a = {{1, 5}};
  const EndpointId b = {{2, 0}};
  const EndpointId c = {{2, 1}};
  EXPECT_TRUE(a < b && b < c && a < c);
  EXPECT_FALSE(b < a || c < b || b < b);
  EXPECT_TRUE(b == b);
  EXPECT_FALSE(a == b || b == c);
}

class FrameTest : public ::testing::Test {
 protected:
  FrameTest() { WriteFrame({0x01020304, 0x00050607, 0x08090a0b, FrameKind::kSegment, 3}, bytes_); }

  Status Read(size_t max_segment_bytes = kMaxSegmentBytes) {
    return ReadFrame(bytes_, max_segment_bytes, &frame_);
  }

  // Writes a byte of the frame, which must then be refused with a text that has `what` in it.
  void ExpectRefused(size_t offset, uint8_t value, const std::string& what) {
    const std::byte old = bytes_[offset];
    bytes_[offset] = std::byte{value};
    const Status status = Read();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
    EXPECT_EQ(frame_.group, 0u);
    bytes_[offset] = old;
  }

  std::byte bytes_[kFrameBytes];
  Frame frame_;
};

TEST_F(FrameTest, KeepsItsBytes) {
  const unsigned char expected[kFrameBytes] = {0x4d, 0xb1, 1, 3, 4,  3,  2, 1,
                                               7,    6,    5, 0, 11, 10, 9, 8};
  EXPECT_EQ(std::memcmp(bytes_, expected, kFrameBytes), 0);
}

TEST_F(FrameTest, IsReadAsItWasWritten) {
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(frame_.group, 0x01020304u);
  EXPECT_EQ(frame_.bytes, 0x00050607u);
  EXPECT_EQ(frame_.count, 0x08090a0bu);
  EXPECT_EQ(frame_.kind, FrameKind::kSegment);
  EXPECT_EQ(frame_.channel, 3);
}

TEST_F(FrameTest, NonsenseIsNamed) {
  ExpectRefused(0, 0x4c, "mark is 45388");
  ExpectRefused(1, 0, "mark");
  ExpectRefused(2, 0, "kind is 0");
  ExpectRefused(2, 7, "kind is 7");
  ExpectRefused(2, 255, "kind is 255");
  ExpectRefused(3, kChannelKinds, "channel is 4");
  ExpectRefused(11, 0xff, "length is");
}

TEST_F(FrameTest, ASegmentIsNoLongerThanAllowed) {
  EXPECT_TRUE(Read(0x00050607).ok());
  EXPECT_EQ(Read(0x00050606).code(), StatusCode::kInternal);
}

TEST_F(FrameTest, ControlHasNoPayload) {
  for (const FrameKind kind :
       {FrameKind::kGrant, FrameKind::kClosed, FrameKind::kShutdown, FrameKind::kWaiting}) {
    WriteFrame({1, 0, 2, kind, 0}, bytes_);
    ASSERT_TRUE(Read().ok());
    EXPECT_EQ(frame_.kind, kind);
    WriteFrame({1, 1, 2, kind, 0}, bytes_);
    EXPECT_EQ(Read().code(), StatusCode::kInternal);
  }
}

}  // namespace
}  // namespace brigade
