#include "patterns/plan/plan_cache.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "gtest/gtest.h"

namespace brigade {
namespace {

Signature Numbered(uint64_t number) {
  Signature signature;
  signature.numbers = number;
  return signature;
}

const Plan* Insert(PlanCache* cache, uint64_t number) {
  auto plan = std::make_unique<Plan>();
  plan->signature = Numbered(number);
  return cache->Insert(std::move(plan));
}

TEST(PlanCache, KeepsPlansBySignature) {
  PlanCache cache;
  EXPECT_EQ(cache.Find(Numbered(0)), nullptr);
  for (uint64_t i = 0; i < PlanCache::kMostPlans; ++i) EXPECT_NE(Insert(&cache, i), nullptr);
  for (uint64_t i = 0; i < PlanCache::kMostPlans; ++i) {
    const Plan* const plan = cache.Find(Numbered(i));
    ASSERT_NE(plan, nullptr) << i;
    EXPECT_TRUE(plan->signature == Numbered(i));
  }
  EXPECT_EQ(cache.Find(Numbered(PlanCache::kMostPlans)), nullptr);
  EXPECT_EQ(cache.made(), PlanCache::kMostPlans);
  EXPECT_EQ(cache.lookups(), PlanCache::kMostPlans + 2);
}

TEST(PlanCache, IsBounded) {
  PlanCache cache;
  for (uint64_t i = 0; i < 5 * PlanCache::kMostPlans; ++i) {
    const Plan* const plan = Insert(&cache, i);
    EXPECT_EQ(cache.Find(Numbered(i)), plan);
  }
  size_t kept = 0;
  for (uint64_t i = 0; i < 5 * PlanCache::kMostPlans; ++i) {
    kept += cache.Find(Numbered(i)) != nullptr ? 1 : 0;
  }
  EXPECT_LE(kept, PlanCache::kMostPlans);
}

}  // namespace
}  // namespace brigade
