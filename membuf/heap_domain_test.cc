#include "membuf/heap_domain.h"

#include "gtest/gtest.h"

namespace brigade {
namespace {

void ExpectRefused(HeapDomain* domain, ByteSpan memory, const char* limit) {
  const size_t before = domain->registered_bytes();
  uint64_t key = 77;
  const Status status = domain->Register(memory, &key);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(status.message().find(limit), std::string::npos) << status.message();
  EXPECT_EQ(key, 77u);
  EXPECT_EQ(domain->registered_bytes(), before);
}

TEST(HeapDomain, EnforcesEveryLimitByName) {
  DomainLimits limits;
  limits.max_regions = 2;
  limits.max_region_bytes = 1000;
  limits.max_total_bytes = 1500;
  HeapDomain domain(limits);
  ByteSpan memory;
  ASSERT_TRUE(domain.Allocate(0, 2000, &memory).ok());
  const auto first = [&](size_t bytes) { return ByteSpan{memory.data, bytes}; };

  ExpectRefused(&domain, first(1001), "max_region_bytes = 1000");
  uint64_t a = 0;
  uint64_t b = 0;
  ASSERT_TRUE(domain.Register(first(1000), &a).ok());
  ExpectRefused(&domain, first(501), "max_total_bytes = 1500");
  ASSERT_TRUE(domain.Register(first(500), &b).ok());
  EXPECT_NE(a, b);
  ExpectRefused(&domain, first(0), "max_regions = 2");
  domain.Deregister(a);
  EXPECT_EQ(domain.registered_bytes(), 500u);
  ASSERT_TRUE(domain.Register(first(1000), &a).ok());
  domain.Deregister(a);
  domain.Deregister(b);
  domain.Free(memory);
}

TEST(HeapDomain, AlignsTo64Bytes) {
  HeapDomain domain;
  for (const size_t bytes : {1, 100, 5000}) {
    ByteSpan memory;
    ASSERT_TRUE(domain.Allocate(0, bytes, &memory).ok());
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data) % 64, 0u);
    domain.Free(memory);
  }
}

TEST(HeapDomain, MapsKindsToThePlacementsItHas) {
  HeapDomain one;
  EXPECT_EQ(one.PlacementOf(MemoryKind::kController), 0);
  EXPECT_EQ(one.PlacementOf(MemoryKind::kHost), 0);
  HeapDomain two(DomainLimits(), 2);
  EXPECT_NE(two.PlacementOf(MemoryKind::kController), two.PlacementOf(MemoryKind::kHost));
  EXPECT_LT(two.PlacementOf(MemoryKind::kHost), two.placements());
}

TEST(HeapDomain, SaysThatTheSystemHasNoMore) {
  HeapDomain domain;
  ByteSpan memory;
  const Status status = domain.Allocate(0, size_t{1} << 60, &memory);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(memory.data, nullptr);
}

TEST(HeapDomainDeathTest, ForeignKeysAndLeaksAreBugs) {
  HeapDomain domain;
  EXPECT_DEATH(domain.Deregister(5), "check failed");
  EXPECT_DEATH(
      {
        HeapDomain leaking;
        std::byte* const byte = nullptr;
        uint64_t key;
        (void)leaking.Register(ByteSpan{byte, 1}, &key);
      },
      "check failed");
}

}  // namespace
}  // namespace brigade
