#include "windows/memory/member_page.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace brigade {
namespace {

// All of it is used at once, and nothing beside it.
TEST(MemberPageTest, ItsPartsAreApart) {
  for (const int members : {1, 2, 7, 8, 9, 1000}) {
    const size_t bytes = MemberPage::BytesFor(members);
    struct alignas(64) Line {
      std::byte bytes[64];
    };
    std::vector<Line> memory(bytes / 64 + 2);
    auto* const start = reinterpret_cast<std::byte*>(memory.data());
    const std::byte guard{0x5a};
    std::memset(start + bytes, static_cast<int>(guard), memory.size() * 64 - bytes);
    const MemberPage page(start, members);
    EXPECT_TRUE(page.combining().TryLock(0));
    EXPECT_TRUE(page.queueing().TryLock(1));
    page.answering().Begin();
    for (int origin = 0; origin < members; ++origin) {
      bool granted = false;
      ASSERT_TRUE(page.locks().Request(origin, LockKind::kExclusive, true, &granted).ok());
      EXPECT_EQ(granted, origin == 0);
      EXPECT_EQ(page.notified(origin).fetch_add(UINT64_MAX - static_cast<uint64_t>(origin)), 0U);
      if (members > MemberPage::kMaxFlagPeers) continue;
      MemberPage::EpochFlags& told = page.epoch_flags_of(origin);
      EXPECT_EQ(told.posts.fetch_add(1 + static_cast<uint64_t>(origin)), 0U);
      EXPECT_EQ(told.completes.fetch_add(UINT64_MAX), 0U);
      EXPECT_EQ(told.fences.fetch_add(2 + static_cast<uint64_t>(origin)), 0U);
    }
    EXPECT_EQ(page.combining().holder(), 0);
    EXPECT_EQ(page.queueing().holder(), 1);
    EXPECT_FALSE(page.answering().is_asked());
    EXPECT_TRUE(page.answering().BeginRequests());
    EXPECT_FALSE(page.asleep().armed());
    for (int origin = 0; origin < members; ++origin) {
      EXPECT_TRUE(page.locks().Holds(origin));
      EXPECT_EQ(page.notified(origin).load(), UINT64_MAX - static_cast<uint64_t>(origin));
      std::vector<int> granted;
      ASSERT_TRUE(page.locks().Release(origin, &granted).ok());
      if (members > MemberPage::kMaxFlagPeers) continue;
      EXPECT_EQ(page.epoch_flags_of(origin).posts.load(), 1 + static_cast<uint64_t>(origin));
      EXPECT_EQ(page.epoch_flags_of(origin).completes.load(), UINT64_MAX);
      EXPECT_EQ(page.epoch_flags_of(origin).fences.load(), 2 + static_cast<uint64_t>(origin));
    }
    for (size_t i = bytes; i < memory.size() * 64; ++i) ASSERT_EQ(start[i], guard);
  }
}

// Words that different origins write at the same time lie on different cache lines.
TEST(MemberPageTest, LocksAreOnLinesOfTheirOwn) {
  alignas(64) std::byte memory[2048] = {};
  ASSERT_LE(MemberPage::BytesFor(4), sizeof(memory));
  const MemberPage page(memory, 4);
  const auto line = [](const void* at) { return reinterpret_cast<uint64_t>(at) / 64; };
  std::set<uint64_t> others{line(&page.notified(0))};
  // The table of the lock is what a request changes.
  std::vector<std::byte> before(memory, memory + sizeof(memory));
  bool granted = false;
  ASSERT_TRUE(page.locks().Request(0, LockKind::kShared, false, &granted).ok());
  for (size_t i = 0; i < sizeof(memory); ++i) {
    if (memory[i] != before[i]) others.insert(line(&memory[i]));
  }
  EXPECT_EQ(others.size(), 2U);
  others.insert(line(&page.combining()));
  others.insert(line(&page.queueing()));
  others.insert(line(&page.answering()));
  others.insert(line(&page.asleep()));
  others.insert(line(&page.epoch_flags_of(0)));
  others.insert(line(&page.epoch_flags_of(1)));
  EXPECT_EQ(others.size(), 8U);
}

}  // namespace
}  // namespace brigade
