#include "transport/host_memory/page_slots.h"

#include <cstddef>

#include "gtest/gtest.h"

namespace brigade {
namespace {

constexpr size_t kPage = 4096;

TEST(PageSlots, ASlotIsTheNextPowerOfTwoFromACacheLineToHalfAPage) {
  for (const size_t bytes : {0, 1, 63, 64}) EXPECT_EQ(PageSlots::SlotBytesFor(bytes, kPage), 64u);
  EXPECT_EQ(PageSlots::SlotBytesFor(65, kPage), 128u);
  EXPECT_EQ(PageSlots::SlotBytesFor(1025, kPage), 2048u);
  EXPECT_EQ(PageSlots::SlotBytesFor(2048, kPage), 2048u);
  for (const size_t bytes : {size_t{2049}, kPage, SIZE_MAX}) {
    EXPECT_EQ(PageSlots::SlotBytesFor(bytes, kPage), 0u) << bytes;
  }
  EXPECT_EQ(PageSlots::SlotBytesFor(32768, 65536), 32768u);
}

TEST(PageSlots, AllSlotsAreTakenOnceAndFreedSlotsAgain) {
  for (const size_t page : {kPage, size_t{65536}}) {
    for (const size_t slot_bytes : {64, 128, 2048}) {
      PageSlots slots(slot_bytes, page);
      EXPECT_TRUE(slots.empty());
      const size_t count = page / slot_bytes;
      for (size_t i = 0; i < count; ++i) {
        EXPECT_FALSE(slots.full());
        EXPECT_FALSE(slots.IsUsed(i));
        EXPECT_EQ(slots.Take(), i);
        EXPECT_TRUE(slots.IsUsed(i));
        EXPECT_FALSE(slots.empty());
      }
      EXPECT_TRUE(slots.full());
      slots.Give(count - 1);
      slots.Give(0);
      EXPECT_FALSE(slots.full());
      EXPECT_EQ(slots.Take(), 0u);
      EXPECT_EQ(slots.Take(), count - 1);
      for (size_t i = 0; i < count; ++i) slots.Give(i);
      EXPECT_TRUE(slots.empty());
    }
  }
}

}  // namespace
}  // namespace brigade
