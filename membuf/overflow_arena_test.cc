#include "membuf/overflow_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(OverflowArena, LendsAlignedBlocksUpToItsLimit) {
  OverflowArena arena(1000, 300);
  std::vector<ByteSpan> blocks;
  std::set<std::byte*> distinct;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(arena.TryAcquire());
    ASSERT_EQ(blocks.back().bytes, 300u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data) % 64, 0u);
    distinct.insert(blocks.back().data);
  }
  EXPECT_EQ(distinct.size(), 3u);
  EXPECT_EQ(arena.TryAcquire().data, nullptr);  // 1200 > 1000
  EXPECT_EQ(arena.statistics().in_use_bytes, 900u);
  EXPECT_EQ(arena.statistics().refusals, 1u);
  arena.Release(blocks.back());
  blocks.back() = arena.TryAcquire();
  EXPECT_EQ(blocks.back().bytes, 300u);
  for (const ByteSpan& block : blocks) arena.Release(block);
  EXPECT_EQ(arena.statistics().in_use_bytes, 0u);
  EXPECT_EQ(arena.statistics().high_water_bytes, 900u);
  EXPECT_EQ(arena.statistics().blocks, 4u);
}

TEST(OverflowArena, ALimitOfNothingRefuses) {
  OverflowArena arena(0, 64);
  EXPECT_EQ(arena.TryAcquire().bytes, 0u);
  EXPECT_EQ(arena.statistics().refusals, 1u);
}

TEST(OverflowArena, KeepsBlocksForReuseUntilTrimmed) {
  OverflowArena arena(SIZE_MAX - 1, 1000);
  const ByteSpan first = arena.TryAcquire();
  arena.Release(first);
  const ByteSpan again = arena.TryAcquire();
  EXPECT_EQ(again.data, first.data);
  arena.Release(again);
  EXPECT_EQ(arena.kept_bytes(), 1000u);
  arena.Trim();
  EXPECT_EQ(arena.kept_bytes(), 0u);
}

TEST(OverflowArena, KeepsNoMoreThanItsBound) {
  constexpr size_t kBlockBytes = size_t{24} << 20;
  OverflowArena arena(SIZE_MAX - 1, kBlockBytes);
  std::vector<ByteSpan> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(arena.TryAcquire());
  for (const ByteSpan& block : blocks) arena.Release(block);
  EXPECT_EQ(arena.kept_bytes(), 2 * kBlockBytes);  // 64 MiB hold two of 24
}

size_t AvailableBytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    size_t kib = 0;
    if (word == "MemAvailable:" && meminfo >> kib) return kib << 10;
  }
  return 0;
}

TEST(OverflowArena, WithoutALimitItStopsAtWhatTheSystemHas) {
  OverflowArena modest(OverflowArena::kAvailableMemory, 4096);
  const ByteSpan block = modest.TryAcquire();
  EXPECT_NE(block.data, nullptr);
  modest.Release(block);

  // Untouched memory of this size could be had: the system overcommits.
  const size_t available = AvailableBytes();
  ASSERT_GT(available, 0u);
  OverflowArena greedy(OverflowArena::kAvailableMemory, available / 2);
  EXPECT_EQ(greedy.TryAcquire().data, nullptr);
  EXPECT_EQ(greedy.statistics().refusals, 1u);
}

// Its user's copy brings the pages in; touching them here would be a pass over memory for nothing.
TEST(OverflowArena, TouchesNoPageOfABlock) {
  // Large enough that the allocator cannot have it at hand. The ends are left out: the allocator
  // writes a few words there, and the kernel may bring in a huge page for them.
  constexpr size_t kBlockBytes = size_t{64} << 20;
  constexpr size_t kEndBytes = size_t{4} << 20;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  OverflowArena arena(SIZE_MAX - 1, kBlockBytes);
  const ByteSpan block = arena.TryAcquire();
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(block.data) + kEndBytes) / page * page;
  const uintptr_t end = begin + kBlockBytes - 2 * kEndBytes;
  std::vector<unsigned char> resident((end - begin) / page);
  ASSERT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, resident.data()), 0);
  for (size_t i = 0; i < resident.size(); ++i) ASSERT_EQ(resident[i] & 1, 0) << "page " << i;
  arena.Release(block);
}

TEST(OverflowArenaDeathTest, MisuseIsABug) {
  EXPECT_DEATH(
      {
        OverflowArena arena(1000, 100);
        (void)arena.TryAcquire();
      },
      "check failed");
  OverflowArena arena(1000, 100);
  const ByteSpan block = arena.TryAcquire();
  EXPECT_DEATH(arena.Release(ByteSpan{block.data, 50}), "check failed");
  arena.Release(block);
  EXPECT_DEATH(arena.Release(block), "check failed");
}

}  // namespace
}  // namespace brigade
