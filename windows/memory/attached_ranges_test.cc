#include "windows/memory/attached_ranges.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"

namespace brigade {
namespace {

// A table of its own, and addresses that nobody touches.
class AttachedRangesTest : public testing::Test {
 protected:
  static std::byte* Memory(int64_t address) { return reinterpret_cast<std::byte*>(address); }
  bool Holds(int64_t address, int64_t bytes) const {
    return ranges_.Hold(TypedLayout::Run(Element::kByte, bytes), 1, address);
  }
  static std::byte* Zeroed(std::vector<std::byte>* storage) {
    const auto at = reinterpret_cast<uint64_t>(storage->data());
    return storage->data() + (64 - at % 64) % 64;
  }

  std::vector<std::byte> storage_{AttachedRanges::Bytes() + 64};
  AttachedRanges ranges_{Zeroed(&storage_)};
};

// Beside a set of bytes.
TEST_F(AttachedRangesTest, HoldsTheAttachedRanges) {
  std::mt19937 random(1);
  const auto at_random = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  std::set<int64_t> bytes;
  std::set<std::pair<int64_t, int64_t>> parts;
  const auto all_in = [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) {
      if (bytes.count(at) == 0) return false;
    }
    return true;
  };
  int attached = 0;
  int held = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t from = at_random(100, 160);
    const int64_t to = from + at_random(1, 8);
    if (at_random(0, 3) > 0) {
      EXPECT_EQ(Holds(from, to - from), all_in(from, to)) << from << " to " << to;
      held += all_in(from, to) ? 1 : 0;
    } else if (!parts.empty() && at_random(0, 1) == 0) {
      auto part = parts.begin();
      std::advance(part, at_random(0, static_cast<int>(parts.size()) - 1));
      ASSERT_TRUE(ranges_.Detach(Memory(part->first)).ok());
      for (int64_t at = part->first; at < part->second; ++at) bytes.erase(at);
      parts.erase(part);
    } else {
      bool is_free = true;
      for (int64_t at = from; at < to; ++at) is_free = is_free && bytes.count(at) == 0;
      const Status status = ranges_.Attach(Memory(from), static_cast<size_t>(to - from));
      ASSERT_EQ(status.code(), is_free ? StatusCode::kOk : StatusCode::kInvalidArgument);
      if (!is_free) continue;
      ++attached;
      parts.emplace(from, to);
      for (int64_t at = from; at < to; ++at) bytes.insert(at);
    }
  }
  EXPECT_GT(attached, 1000);
  EXPECT_GT(held, 500);
}

TEST_F(AttachedRangesTest, GapsOfALayoutNeedNotBeAttached) {
  ASSERT_TRUE(ranges_.Attach(Memory(1000), 8).ok());
  ASSERT_TRUE(ranges_.Attach(Memory(1100), 8).ok());
  TypedLayout layout;
  ASSERT_TRUE(TypedLayout::Repeat(2, 100, TypedLayout::One(Element::kInt64), &layout).ok());
  EXPECT_TRUE(ranges_.Hold(layout, 1, 1000));
  EXPECT_FALSE(ranges_.Hold(layout, 1, 1001));
  EXPECT_FALSE(ranges_.Hold(layout, 2, 1000));
  ASSERT_TRUE(ranges_.Detach(Memory(1100)).ok());
  EXPECT_FALSE(ranges_.Hold(layout, 1, 1000));
}

TEST_F(AttachedRangesTest, WrongCallsChangeNothing) {
  EXPECT_TRUE(ranges_.Attach(Memory(64), 0).ok());
  EXPECT_EQ(ranges_.Detach(Memory(64)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ranges_.Attach(Memory(-8), 16).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(ranges_.Attach(Memory(64), 8).ok());
  EXPECT_EQ(ranges_.Detach(Memory(68)).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Holds(64, 8));
  EXPECT_FALSE(ranges_.Hold(TypedLayout::One(Element::kByte), 1, -5));
}

TEST_F(AttachedRangesTest, ThereIsRoomForAFixedNumber) {
  for (size_t i = 0; i < AttachedRanges::kMost; ++i) {
    ASSERT_TRUE(ranges_.Attach(Memory(static_cast<int64_t>(64 + 2 * i)), 1).ok());
  }
  EXPECT_EQ(ranges_.Attach(Memory(1 << 20), 1).code(), StatusCode::kOutOfMemory);
  ASSERT_TRUE(ranges_.Detach(Memory(64)).ok());
  EXPECT_TRUE(ranges_.Attach(Memory(1 << 20), 1).ok());
}

}  // namespace
}  // namespace brigade
