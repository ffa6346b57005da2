#include "membuf/overflow_arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(OverflowArena, LendsAlignedBlocksUpToItsLimit) {
  OverflowArena arena(13000);
  std::vector<ByteSpan> blocks;
  std::set<std::byte*> distinct;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(arena.TryAcquire(4050));
    ASSERT_EQ(blocks.back().bytes, 4096u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data) % 64, 0u);
    distinct.insert(blocks.back().data);
  }
  EXPECT_EQ(distinct.size(), 3u);
  EXPECT_EQ(arena.TryAcquire(4050).data, nullptr);  // 4 * 4096 > 13000
  EXPECT_EQ(arena.statistics().in_use_bytes, 12288u);
  EXPECT_EQ(arena.statistics().refusals, 1u);
  arena.Release(blocks.back());
  blocks.back() = arena.TryAcquire(4096);
  EXPECT_EQ(blocks.back().bytes, 4096u);
  for (const ByteSpan& block : blocks) arena.Release(block);
  EXPECT_EQ(arena.statistics().in_use_bytes, 0u);
  EXPECT_EQ(arena.statistics().high_water_bytes, 12288u);
  EXPECT_EQ(arena.statistics().blocks, 4u);
}

// A sent message of 1 KiB must not take a page, let alone a chunk.
TEST(OverflowArena, SmallBlocksShareOne) {
  OverflowArena arena(2 * 16384);
  std::vector<ByteSpan> blocks;
  for (int i = 0; i < 30; ++i) {
    const ByteSpan block = arena.TryAcquire(1030);
    ASSERT_EQ(block.bytes, 1088u) << i;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
    std::memset(block.data, i, block.bytes);
    blocks.push_back(block);
  }
  EXPECT_EQ(arena.TryAcquire(1030).data, nullptr);
  EXPECT_EQ(arena.TryAcquire(4032).data, nullptr);
  EXPECT_EQ(arena.statistics().in_use_bytes, 32768u);
  EXPECT_EQ(arena.statistics().refusals, 2u);
  for (int i = 0; i < 30; ++i) {
    for (size_t at = 0; at < 1088; ++at) ASSERT_EQ(blocks[i].data[at], std::byte(i));
    arena.Release(blocks[i]);
    // 15 share one, which is used again once all of them are back.
    EXPECT_EQ(arena.statistics().in_use_bytes, i < 14 ? 32768u : i < 29 ? 16384u : 0u);
  }
  EXPECT_EQ(arena.kept_bytes(), 32768u);
  const ByteSpan again = arena.TryAcquire(0);
  EXPECT_EQ(again.bytes, 64u);
  EXPECT_EQ(arena.kept_bytes(), 16384u);
  arena.Release(again);
}

TEST(OverflowArena, AtTheLimitASmallBlockIsAlone) {
  OverflowArena arena(16384 + 4096 + 1000);
  std::vector<ByteSpan> blocks;
  for (int i = 0; i < 15; ++i) blocks.push_back(arena.TryAcquire(1030));
  blocks.push_back(arena.TryAcquire(1030));
  EXPECT_EQ(blocks.back().bytes, 4096u);
  EXPECT_EQ(arena.statistics().in_use_bytes, 16384u + 4096u);
  EXPECT_EQ(arena.statistics().refusals, 0u);
  EXPECT_EQ(arena.TryAcquire(1030).data, nullptr);
  EXPECT_EQ(arena.statistics().refusals, 1u);
  for (const ByteSpan& block : blocks) arena.Release(block);
  EXPECT_EQ(arena.statistics().in_use_bytes, 0u);
}

TEST(OverflowArena, ALimitOfNothingRefuses) {
  OverflowArena arena(0);
  EXPECT_EQ(arena.TryAcquire(1).bytes, 0u);
  EXPECT_EQ(arena.statistics().refusals, 1u);
}

TEST(OverflowArena, KeepsBlocksForReuseUntilTrimmed) {
  OverflowArena arena(SIZE_MAX - 1);
  const ByteSpan first = arena.TryAcquire(5000);
  arena.Release(first);
  const ByteSpan other = arena.TryAcquire(9000);
  EXPECT_EQ(other.bytes, 12288u);
  const ByteSpan again = arena.TryAcquire(6000);
  EXPECT_EQ(again.data, first.data);
  arena.Release(again);
  EXPECT_EQ(arena.kept_bytes(), 8192u);
  arena.Release(other);
  arena.Trim();
  EXPECT_EQ(arena.kept_bytes(), 0u);
}

// Of a segment with its header the system makes all pages, whether they are used or not.
TEST(OverflowArena, ALittleMoreThanAPowerOfTwoTakesAQuarterMore) {
  OverflowArena arena(SIZE_MAX - 1);
  for (const auto& [asked, taken] : {std::pair<size_t, size_t>{4096, 4096},
                                     {4097, 8192},
                                     {16384, 16384},
                                     {16385, 20480},
                                     {(32 << 10) + 64, 40 << 10},
                                     {(1 << 20) + 1, (1 << 20) + (256 << 10)}}) {
    const ByteSpan block = arena.TryAcquire(asked);
    EXPECT_EQ(block.bytes, taken) << asked;
    arena.Release(block);
  }
}

TEST(OverflowArena, KeepsNoMoreThanItsBound) {
  constexpr size_t kBlockBytes = size_t{16} << 20;
  OverflowArena arena(SIZE_MAX - 1);
  std::vector<ByteSpan> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(arena.TryAcquire(kBlockBytes));
  for (const ByteSpan& block : blocks) arena.Release(block);
  EXPECT_EQ(arena.kept_bytes(), 4 * kBlockBytes);  // 64 MiB
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

TEST(OverflowArena, WithoutALimitItStopsAtTheAvailableMemory) {
  OverflowArena modest(OverflowArena::kAvailableMemory);
  const ByteSpan block = modest.TryAcquire(4096);
  EXPECT_NE(block.data, nullptr);
  modest.Release(block);

  // Untouched memory of this size could be had: the system overcommits.
  const size_t available = AvailableBytes();
  ASSERT_GT(available, 0u);
  OverflowArena greedy(OverflowArena::kAvailableMemory);
  EXPECT_EQ(greedy.TryAcquire(available / 2).data, nullptr);
  EXPECT_EQ(greedy.statistics().refusals, 1u);
}

// Its user's copy brings the pages in; touching them here would be a pass over memory for nothing.
TEST(OverflowArena, TouchesNoPageOfABlock) {
  // Large enough that the allocator cannot have it at hand. The ends are left out: the allocator
  // writes a few words there, and the kernel may bring in a huge page for them.
  constexpr size_t kBlockBytes = size_t{64} << 20;
  constexpr size_t kEndBytes = size_t{4} << 20;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  OverflowArena arena(SIZE_MAX - 1);
  const ByteSpan block = arena.TryAcquire(kBlockBytes);
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
        OverflowArena arena(10000);
        (void)arena.TryAcquire(5000);
      },
      "check failed");
  OverflowArena arena(10000);
  const ByteSpan block = arena.TryAcquire(5000);
  EXPECT_DEATH(arena.Release(ByteSpan{block.data, 5000}), "check failed");
  EXPECT_DEATH(arena.Release(ByteSpan{block.data, 64}), "check failed");
  arena.Release(block);
  EXPECT_DEATH(arena.Release(block), "check failed");
}

TEST(OverflowArena, ARetiredBlockIsNotLentAgain) {
  OverflowArena arena(OverflowArena::kAvailableMemory);
  const ByteSpan retired = arena.TryAcquire(4096);
  arena.Retire(retired);
  EXPECT_EQ(arena.statistics().in_use_bytes, 0u);
  const ByteSpan other = arena.TryAcquire(4096);
  EXPECT_NE(other.data, retired.data);
  arena.Release(other);
}

TEST(OverflowArena, ABlockWithARetiredPartIsNotLentAgain) {
  OverflowArena arena(OverflowArena::kAvailableMemory);
  const ByteSpan retired = arena.TryAcquire(100);
  const ByteSpan released = arena.TryAcquire(100);
  arena.Retire(retired);
  EXPECT_EQ(arena.statistics().in_use_bytes, 16384u);
  arena.Release(released);
  EXPECT_EQ(arena.statistics().in_use_bytes, 0u);
  EXPECT_EQ(arena.kept_bytes(), 0u);
}

}  // namespace
}  // namespace brigade
