// How memory of MPI_Alloc_mem comes about; what windows do with it, a program shows (test/rma).

#include "rma_shim/allocations.h"

#include "gtest/gtest.h"

namespace brigade {
namespace rma {
namespace {

// Programs allocate a few bytes for each of many operations.
TEST(Allocations, ALittleTakesNoLookAtTheSystem) {
  Allocations& allocations = Allocations::Here();
  for (int i = 0; i < 100; ++i) {
    void* const memory = allocations.Allocate(64);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(allocations.Free(memory));
    EXPECT_EQ(allocations.looks(), 1);
  }
}

}  // namespace
}  // namespace rma
}  // namespace brigade
