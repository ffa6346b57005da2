#include "transport/core/wire_ids.h"

#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

struct Contribution {
  uint32_t wire_id = 0;
};

Contribution Of(const WireIds& ids) { return {static_cast<uint32_t>(ids.proposal())}; }

TEST(WireIdsTest, GroupsThatShareARankDiffer) {
  WireIds a;
  WireIds b;
  WireIds c;
  std::vector<Contribution> all{Of(a), Of(b)};
  EXPECT_EQ(a.Agree(all, &Contribution::wire_id), 0u);
  EXPECT_EQ(b.Agree(all, &Contribution::wire_id), 0u);
  all = {Of(b), Of(c)};
  EXPECT_EQ(b.Agree(all, &Contribution::wire_id), 1u);
  EXPECT_EQ(c.Agree(all, &Contribution::wire_id), 1u);
  all = {Of(a), Of(c)};
  EXPECT_EQ(a.Agree(all, &Contribution::wire_id), 2u);
}

TEST(WireIdsTest, DistinguishesPastIdsFromFutureIds) {
  WireIds ids;
  EXPECT_FALSE(ids.IsPast(0));
  ids.Agree(std::vector<uint64_t>{4}, [](uint64_t proposal) { return proposal; });
  EXPECT_TRUE(ids.IsPast(4));
  EXPECT_FALSE(ids.IsPast(5));
}

}  // namespace
}  // namespace brigade
