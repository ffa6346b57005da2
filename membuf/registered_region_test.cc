#include "membuf/registered_region.h"

#include <utility>

#include "gtest/gtest.h"
#include "membuf/heap_domain.h"

namespace brigade {
namespace {

// Counts allocations, which HeapDomain leaves to the sanitizer.
class CountingDomain : public HeapDomain {
 public:
  using HeapDomain::HeapDomain;
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override {
    ++allocated;
    return HeapDomain::Allocate(placement, bytes, memory);
  }
  void Free(ByteSpan memory) override {
    --allocated;
    HeapDomain::Free(memory);
  }
  int allocated = 0;
};

TEST(RegisteredRegion, OwnsMemoryAndRegistrationUntilItEnds) {
  CountingDomain domain;
  {
    RegisteredRegion region;
    EXPECT_EQ(region.memory().data, nullptr);
    ASSERT_TRUE(RegisteredRegion::Create(&domain, 0, 100, &region).ok());
    EXPECT_EQ(region.memory().bytes, 100u);
    EXPECT_NE(region.key(), 0u);
    EXPECT_EQ(domain.registered_bytes(), 100u);

    RegisteredRegion moved = std::move(region);
    EXPECT_EQ(region.memory().data, nullptr);  // NOLINT(bugprone-use-after-move): it is empty
    EXPECT_EQ(domain.registered_bytes(), 100u);
    ASSERT_TRUE(RegisteredRegion::Create(&domain, 0, 50, &moved).ok());
    EXPECT_EQ(domain.registered_bytes(), 50u);
    EXPECT_EQ(domain.allocated, 1);
  }
  EXPECT_EQ(domain.registered_bytes(), 0u);
  EXPECT_EQ(domain.allocated, 0);
}

TEST(RegisteredRegion, ARefusedRegistrationLeavesNothingAllocated) {
  DomainLimits limits;
  limits.max_region_bytes = 10;
  CountingDomain domain(limits);
  RegisteredRegion region;
  EXPECT_EQ(RegisteredRegion::Create(&domain, 0, 11, &region).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(domain.allocated, 0);
  EXPECT_EQ(region.memory().data, nullptr);
}

}  // namespace
}  // namespace brigade
