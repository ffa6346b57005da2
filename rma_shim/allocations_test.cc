// What memory of MPI_Alloc_mem costs; what windows do with it, a program shows (test/rma).

#include "rma_shim/allocations.h"

#include <algorithm>
#include <chrono>

#include "gtest/gtest.h"
#include "membuf/available_memory.h"

namespace brigade {
namespace rma {
namespace {

template <typename Body>
std::chrono::nanoseconds ShortestOf(int times, const Body& body) {
  auto shortest = std::chrono::nanoseconds::max();
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    shortest =
        std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - start);
  }
  return shortest;
}

// Programs allocate a few bytes for each of many operations.
TEST(Allocations, ALittleTakesNoLookAtTheSystem) {
  const auto look = ShortestOf(100, [] { (void)AvailableMemory(Swapping::kAllowed); });
  const auto allocation = ShortestOf(100, [] {
    void* const memory = Allocations::Here().Allocate(64);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(Allocations::Here().Free(memory));
  });
  EXPECT_LT(allocation.count(), look.count());
}

}  // namespace
}  // namespace rma
}  // namespace brigade
