#include "membuf/staging_pool.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/heap_domain.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

std::unique_ptr<StagingPool> MakePool(MemoryDomain* domain, size_t chunks, size_t core) {
  StagingPoolOptions options;
  options.chunk_bytes = 128;
  options.budget_bytes = chunks * 128;
  options.core_chunks = core;
  std::unique_ptr<StagingPool> pool;
  const Status status = StagingPool::Create(domain, options, &pool);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return pool;
}

// The first of `runs` runs of the core that are free.
std::vector<ChunkRun> TakeCore(StagingPool* pool, int runs, int chunks) {
  std::vector<ChunkRun> taken;
  for (int i = 0; i < runs; ++i) {
    if (const ChunkRun run = pool->TryAcquireCore(0, chunks)) taken.push_back(run);
  }
  return taken;
}

void ExpectRefused(const StagingPoolOptions& options, const std::vector<std::string>& texts) {
  HeapDomain domain;
  std::unique_ptr<StagingPool> pool;
  const Status status = StagingPool::Create(&domain, options, &pool);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(pool, nullptr);
  for (const std::string& text : texts) {
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }
}

TEST(StagingPool, RefusesBadOptionsNamingTheMinimum) {
  StagingPoolOptions options;
  options.chunk_bytes = 128;
  options.budget_bytes = 1000;  // 7 chunks
  options.core_chunks = 8;
  ExpectRefused(options, {"1000", "8 chunks of 128", "at least 1024"});
  options.core_chunks = 0;
  options.budget_bytes = 127;
  ExpectRefused(options, {"127", "at least 128"});
  options.chunk_bytes = 100;
  ExpectRefused(options, {"staging memory in chunks of 100 bytes", "multiple of 64"});
  options.chunk_bytes = 0;
  ExpectRefused(options, {"multiple of 64"});
  options.chunk_bytes = 64;
  options.budget_bytes = size_t{1} << 40;
  ExpectRefused(options, {"2^31 - 1"});
}

TEST(StagingPool, TheDomainsRefusalIsTheCallers) {
  DomainLimits limits;
  limits.max_total_bytes = 3000;
  HeapDomain domain(limits, 2);
  StagingPoolOptions options;
  options.budget_bytes = 2048;  // fits once, not once per placement
  options.chunk_bytes = 128;
  std::unique_ptr<StagingPool> pool;
  const Status status = StagingPool::Create(&domain, options, &pool);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(domain.registered_bytes(), 0u);
}

TEST(StagingPool, TakesItsBudgetOnceInOneRegionPerPlacement) {
  HeapDomain domain(DomainLimits(), 2);
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 10, 4);
  EXPECT_EQ(domain.registered_bytes(), 2u * 10 * 128);
  EXPECT_EQ(pool->statistics().budget_bytes, 2u * 10 * 128);
  EXPECT_EQ(pool->total_chunks(), 10);
  const ChunkRun a = pool->TryAcquireSurplus(0, 6);
  const ChunkRun b = pool->TryAcquireSurplus(1, 6);
  ASSERT_TRUE(a && b);
  EXPECT_NE(a.memory.data, b.memory.data);
  EXPECT_EQ(domain.registered_bytes(), 2u * 10 * 128);
  pool->Release(a);
  pool->Release(b);
}

TEST(StagingPool, CoreAndSurplusNeverTouchEachOther) {
  HeapDomain domain;
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 10, 6);
  std::vector<ChunkRun> surplus;
  while (const ChunkRun run = pool->TryAcquireSurplus(0, 1)) surplus.push_back(run);
  EXPECT_EQ(surplus.size(), 4u);
  for (const ChunkRun& run : surplus) EXPECT_GE(run.first, 6);

  const std::vector<ChunkRun> core = TakeCore(pool.get(), 3, 2);
  EXPECT_EQ(core.size(), 3u);  // all of an idle core
  for (const ChunkRun& run : core) EXPECT_LE(run.first + run.chunks, 6);
  for (const ChunkRun& run : surplus) pool->Release(run);
  EXPECT_FALSE(pool->TryAcquireCore(0, 1));  // although the surplus is free again
  for (const ChunkRun& run : core) pool->Release(run);
}

TEST(StagingPool, RunsAreAdjacentChunksFirstFit) {
  HeapDomain domain;
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 8, 0);
  const ChunkRun a = pool->TryAcquireSurplus(0, 2);
  const ChunkRun b = pool->TryAcquireSurplus(0, 1);
  const ChunkRun c = pool->TryAcquireSurplus(0, 2);
  EXPECT_EQ(a.first, 0);
  EXPECT_EQ(b.first, 2);
  EXPECT_EQ(c.first, 3);
  EXPECT_EQ(c.memory.bytes, 2u * 128);
  EXPECT_EQ(c.memory.data, a.memory.data + 3 * 128);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.memory.data) % 64, 0u);
  pool->Release(b);
  EXPECT_FALSE(pool->TryAcquireSurplus(0, 4));  // 4 free, but not side by side
  const ChunkRun d = pool->TryAcquireSurplus(0, 3);
  EXPECT_EQ(d.first, 5);
  const ChunkRun e = pool->TryAcquireSurplus(0, 1);
  EXPECT_EQ(e.first, 2);
  for (const ChunkRun& run : {a, c, d, e}) pool->Release(run);
}

TEST(StagingPool, StatisticsCountBytes) {
  HeapDomain domain;
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 8, 4);
  const std::vector<ChunkRun> core = TakeCore(pool.get(), 2, 2);
  ASSERT_EQ(core.size(), 2u);
  EXPECT_EQ(pool->statistics().high_water_bytes, 4u * 128);
  const ChunkRun run = pool->TryAcquireSurplus(0, 3);
  EXPECT_EQ(pool->statistics().in_use_bytes, 7u * 128);
  pool->Release(run);
  pool->Release(core[0]);
  EXPECT_EQ(pool->statistics().in_use_bytes, 2u * 128);
  EXPECT_EQ(pool->statistics().high_water_bytes, 7u * 128);
  pool->Release(core[1]);
}

// Random taking and releasing: lent runs never overlap, and all of it comes back.
TEST(StagingPool, LentRunsNeverOverlap) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  HeapDomain domain;
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 40, 20);
  std::vector<ChunkRun> held;
  std::vector<int> owner(40, -1);
  for (int step = 0; step < StressRounds(5000, 1000000); ++step) {
    const size_t before = held.size();
    const int chunks = 1 + static_cast<int>(random() % 5);
    switch (random() % 3) {
      case 0:
        if (const ChunkRun run = pool->TryAcquireCore(0, chunks)) held.push_back(run);
        break;
      case 1:
        if (const ChunkRun run = pool->TryAcquireSurplus(0, chunks)) held.push_back(run);
        break;
      default:
        if (held.empty()) break;
        std::swap(held[random() % held.size()], held.back());
        std::fill_n(owner.begin() + held.back().first, held.back().chunks, -1);
        pool->Release(held.back());
        held.pop_back();
        continue;
    }
    for (size_t i = before; i < held.size(); ++i) {
      for (int k = held[i].first; k < held[i].first + held[i].chunks; ++k) {
        ASSERT_EQ(owner[static_cast<size_t>(k)], -1) << "chunk " << k << " lent twice";
        owner[static_cast<size_t>(k)] = step;
      }
    }
  }
  for (const ChunkRun& run : held) pool->Release(run);
  EXPECT_EQ(pool->statistics().in_use_bytes, 0u);
}

TEST(StagingPool, LendsChunksOfTheSurplusInParts) {
  HeapDomain domain;
  StagingPoolOptions options;
  options.chunk_bytes = 1024;
  options.budget_bytes = 4 * options.chunk_bytes;
  options.core_chunks = 2;
  std::unique_ptr<StagingPool> pool;
  ASSERT_TRUE(StagingPool::Create(&domain, options, &pool).ok());
  EXPECT_EQ(pool->PartBytes(64), 64u);
  EXPECT_EQ(pool->PartBytes(65), 128u);
  EXPECT_EQ(pool->PartBytes(512), 512u);
  EXPECT_EQ(pool->PartBytes(513), 0u);
  EXPECT_FALSE(pool->TryAcquirePart(0, 513));

  std::vector<ChunkRun> parts;
  std::set<std::byte*> places;
  while (const ChunkRun part = pool->TryAcquirePart(0, 100)) {
    EXPECT_EQ(part.memory.bytes, 128u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part.memory.data) % 64, 0u);
    places.insert(part.memory.data);
    parts.push_back(part);
  }
  EXPECT_EQ(parts.size(), 16u);  // two chunks' worth
  EXPECT_EQ(places.size(), parts.size());
  EXPECT_EQ(pool->statistics().in_use_bytes, 2 * options.chunk_bytes);
  const std::vector<ChunkRun> core = TakeCore(pool.get(), 2, 1);
  EXPECT_EQ(core.size(), 2u);
  for (const ChunkRun& run : core) pool->Release(run);

  // A chunk with one lent part is used for no other purpose; once it is free, it is used for any.
  for (size_t i = 1; i < parts.size(); ++i) pool->Release(parts[i]);
  EXPECT_EQ(pool->statistics().in_use_bytes, options.chunk_bytes);
  const ChunkRun whole = pool->TryAcquireSurplus(0, 1);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(pool->TryAcquireSurplus(0, 1));
  EXPECT_FALSE(pool->TryAcquirePart(0, 512));
  pool->Release(parts[0]);
  const ChunkRun half = pool->TryAcquirePart(0, 512);
  EXPECT_TRUE(half);
  pool->Release(half);
  pool->Release(whole);
  EXPECT_EQ(pool->statistics().in_use_bytes, 0u);
}

TEST(StagingPool, AChunkWithARetiredPartIsNotLentAgain) {
  HeapDomain domain;
  StagingPoolOptions options;
  options.chunk_bytes = 1024;
  options.budget_bytes = 1024;
  std::unique_ptr<StagingPool> pool;
  ASSERT_TRUE(StagingPool::Create(&domain, options, &pool).ok());
  const ChunkRun read = pool->TryAcquirePart(0, 64);
  const ChunkRun other = pool->TryAcquirePart(0, 64);
  ASSERT_TRUE(pool->Retire(read).ok());
  EXPECT_FALSE(pool->TryAcquirePart(0, 64));
  pool->Release(other);
  const ChunkRun fresh = pool->TryAcquirePart(0, 64);
  ASSERT_TRUE(fresh);
  EXPECT_NE(fresh.arena, read.arena);
  pool->Release(fresh);
  EXPECT_EQ(pool->statistics().in_use_bytes, 0u);
}

TEST(StagingPoolDeathTest, ReleasingARunThatIsNotLentIsABug) {
  HeapDomain domain(DomainLimits(), 2);
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 8, 0);
  const std::unique_ptr<StagingPool> other = MakePool(&domain, 8, 0);
  const ChunkRun run = pool->TryAcquireSurplus(0, 3);
  const ChunkRun foreign = other->TryAcquireSurplus(0, 3);
  ChunkRun part = run;
  part.chunks = 2;
  part.memory.bytes = 2 * 128;
  ChunkRun inside = run;
  inside.first = 1;
  ChunkRun elsewhere = run;
  elsewhere.placement = 1;
  EXPECT_DEATH(pool->Release(foreign), "check failed");
  EXPECT_DEATH(pool->Release(part), "check failed");
  EXPECT_DEATH(pool->Release(inside), "check failed");
  EXPECT_DEATH(pool->Release(elsewhere), "check failed");
  EXPECT_DEATH(pool->Release(ChunkRun()), "check failed");
  other->Release(foreign);
  pool->Release(run);
  EXPECT_DEATH(pool->Release(run), "check failed");
}

TEST(StagingPoolDeathTest, EndingWithRunsLentIsABug) {
  HeapDomain domain;
  EXPECT_DEATH(
      {
        const std::unique_ptr<StagingPool> pool = MakePool(&domain, 8, 0);
        pool->TryAcquireSurplus(0, 1);
      },
      "check failed");
}

TEST(StagingPool, GoesOnInFreshMemoryOnceChunksAreRetired) {
  HeapDomain domain(DomainLimits(), 2);
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 6, 4);
  const std::vector<ChunkRun> core = TakeCore(pool.get(), 2, 2);
  ASSERT_EQ(core.size(), 2u);
  const ChunkRun surplus = pool->TryAcquireSurplus(0, 1);
  ASSERT_TRUE(pool->Retire(core[1]).ok());
  EXPECT_EQ(pool->statistics().in_use_bytes, 3u * 128);
  // All of it is there again at once, and none of it was lent before.
  std::vector<ChunkRun> fresh = TakeCore(pool.get(), 1, 4);
  ASSERT_EQ(fresh.size(), 1u);
  while (const ChunkRun run = pool->TryAcquireSurplus(0, 1)) fresh.push_back(run);
  ASSERT_EQ(fresh.size(), 3u);
  for (const ChunkRun& run : fresh) {
    for (const ChunkRun& old : {core[0], core[1], surplus}) {
      EXPECT_TRUE(run.memory.data + run.memory.bytes <= old.memory.data ||
                  old.memory.data + old.memory.bytes <= run.memory.data);
    }
  }
  // Another run of the old memory makes no difference.
  ASSERT_TRUE(pool->Retire(core[0]).ok());
  pool->Release(surplus);
  EXPECT_FALSE(pool->TryAcquireSurplus(0, 1));
  for (const ChunkRun& run : fresh) pool->Release(run);
  EXPECT_EQ(pool->statistics().in_use_bytes, 0u);
  EXPECT_EQ(pool->statistics().budget_bytes, 2u * 6 * 128);
}

TEST(StagingPool, WithoutFreshMemoryRetiredChunksAreMissing) {
  DomainLimits limits;
  limits.max_total_bytes = 3 * 128;
  HeapDomain domain(limits);
  const std::unique_ptr<StagingPool> pool = MakePool(&domain, 3, 1);
  EXPECT_EQ(pool->Retire(pool->TryAcquireSurplus(0, 1)).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(pool->statistics().in_use_bytes, 0u);
  const ChunkRun left = pool->TryAcquireSurplus(0, 1);
  ASSERT_TRUE(left);
  EXPECT_FALSE(pool->TryAcquireSurplus(0, 1));
  pool->Release(left);
}

}  // namespace
}  // namespace brigade
