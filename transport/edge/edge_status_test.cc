#include "transport/edge/edge_status.h"

#include <cstring>

#include "gtest/gtest.h"
#include "test/support/edge_link.h"

namespace brigade {
namespace {

using Link = EdgeLink;

TEST(EdgeStatusTest, AStatusIsNoMessage) {
  Link link;
  EXPECT_EQ(link.in->status(), 0);
  for (uint64_t i = 1; i < 3 * kRingSlots; ++i) {
    std::memcpy(link.out->status_text(), &i, sizeof(i));
    link.out->SetStatus(i);
    EXPECT_EQ(link.out->status(), i);
    ASSERT_EQ(link.in->status(), i);
    EXPECT_EQ(std::memcmp(link.in->status_text(), &i, sizeof(i)), 0);
    EXPECT_EQ(link.in->Peek(), nullptr);
  }
  EXPECT_EQ(link.out->sent(), 0);
  (void)link.Send(7);
  (void)link.Take(7);
}

}  // namespace
}  // namespace brigade
