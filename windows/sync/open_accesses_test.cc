#include "windows/sync/open_accesses.h"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

using Kind = Access::Kind;

constexpr int64_t kFirst = 100;  // the number of the first byte

Access Put(int origin) { return {Kind::kPut, {}, Element::kByte, AccessEnd::kEpoch, origin}; }
Access Get(int origin) { return {Kind::kGet, {}, Element::kByte, AccessEnd::kEpoch, origin}; }
Access Sum(int origin, Element element = Element::kInt32) {
  return {Kind::kAccumulate, CombineOp::kSum, element, AccessEnd::kEpoch, origin};
}
Access Fetch(int origin, CombineOp op) {
  return {Kind::kFetch, op, Element::kInt32, AccessEnd::kEpoch, origin};
}
Access Swap(int origin) {
  return {Kind::kSwap, CombineOp::kReplace, Element::kInt32, AccessEnd::kEpoch, origin};
}

class OpenAccessesTest : public testing::Test {
 protected:
  Status Add(const Access& access, int64_t begin, int64_t end) {
    return open_.Add(access, TypedLayout::Run(Element::kByte, end - begin), 1, begin);
  }
  // Whether two accesses of the same bytes are a conflict, in both orders.
  static bool Conflict(const Access& a, const Access& b) {
    const auto finds = [](const Access& first, const Access& second) {
      OpenAccesses open(0, 0);
      EXPECT_TRUE(open.Add(first, TypedLayout::One(Element::kInt32), 1, 0).ok());
      return !open.Add(second, TypedLayout::One(Element::kInt32), 1, 0).ok();
    };
    EXPECT_EQ(finds(a, b), finds(b, a));
    return finds(a, b);
  }

  OpenAccesses open_{7, kFirst};
};

TEST_F(OpenAccessesTest, AWriteConflictsWithReadsAndOtherWrites) {
  EXPECT_TRUE(Conflict(Put(1), Put(2)));
  EXPECT_TRUE(Conflict(Put(1), Put(1))) << "puts of one origin are in no order";
  EXPECT_TRUE(Conflict(Put(1), Get(2)));
  EXPECT_TRUE(Conflict(Put(1), Get(1)));
  EXPECT_TRUE(Conflict(Put(1), Sum(2)));
  EXPECT_TRUE(Conflict(Put(1), Sum(1)));
  EXPECT_TRUE(Conflict(Put(1), Swap(2)));
  EXPECT_TRUE(Conflict(Get(1), Sum(2)));
  EXPECT_TRUE(Conflict(Get(1), Swap(2)));
  EXPECT_TRUE(Conflict(Put(1), Fetch(2, CombineOp::kNoOp)));
  EXPECT_FALSE(Conflict(Get(1), Get(2)));
  EXPECT_FALSE(Conflict(Get(1), Fetch(2, CombineOp::kNoOp)));
}

TEST_F(OpenAccessesTest, AccumulatesOfOneKindMeet) {
  EXPECT_FALSE(Conflict(Sum(1), Sum(2)));
  EXPECT_FALSE(Conflict(Sum(1), Fetch(2, CombineOp::kSum)));
  EXPECT_TRUE(Conflict(Sum(1), Fetch(2, CombineOp::kMax)));
  EXPECT_FALSE(Conflict(Sum(1), Fetch(1, CombineOp::kMax))) << "those of one origin are in order";
  EXPECT_FALSE(Conflict(Sum(1), Fetch(2, CombineOp::kNoOp)));
  EXPECT_TRUE(Conflict(Sum(1), Sum(2, Element::kFloat)));
  EXPECT_FALSE(Conflict(Sum(1), Sum(1, Element::kFloat)));
  EXPECT_FALSE(Conflict(Swap(1), Swap(2)));
  EXPECT_FALSE(Conflict(Swap(1), Fetch(2, CombineOp::kReplace)));
}

TEST_F(OpenAccessesTest, AConflictIsNamed) {
  EXPECT_TRUE(Add(Put(1), 0, 64).ok());
  EXPECT_TRUE(Add(Put(2), 64, 128).ok());
  const Status put = Add(Put(3), 100, 200);
  EXPECT_EQ(put.code(), StatusCode::kMismatch);
  EXPECT_EQ(put.message(),
            "a conflict in the window of rank 7, bytes 200 to 227: a put of rank 3 comes before a "
            "put of rank 2 is over");
  const Status sum = Add(Sum(4, Element::kDouble), 0, 8);
  EXPECT_EQ(sum.message(), std::string("a conflict in the window of rank 7, bytes 100 to 107: an "
                                       "accumulate (sum of ") +
                               ElementName(Element::kDouble) +
                               ") of rank 4 comes before a put of rank 1 is over");
}

TEST_F(OpenAccessesTest, EndsAreOfOneOrigin) {
  EXPECT_TRUE(Add(Get(1), 0, 10).ok());
  EXPECT_TRUE(Add(Get(2), 5, 15).ok());
  open_.EndAll(1);
  EXPECT_TRUE(Add(Put(1), 0, 5).ok());
  EXPECT_FALSE(Add(Put(1), 5, 6).ok()) << "the other still reads it";
  open_.EndAll();
  EXPECT_TRUE(Add(Put(2), 0, 15).ok());
}

TEST_F(OpenAccessesTest, EndsAreOfOneKind) {
  Access asked = Get(1);
  asked.end = AccessEnd::kAnswer;
  Access told = Put(1);
  told.end = AccessEnd::kNotification;
  EXPECT_TRUE(Add(asked, 0, 4).ok());
  EXPECT_TRUE(Add(told, 4, 8).ok());
  EXPECT_TRUE(Add(Get(1), 8, 12).ok());
  EXPECT_TRUE(Add(Put(1), 12, 16).ok());
  EXPECT_TRUE(Add(Sum(1), 16, 20).ok());
  open_.EndBy(AccessEnd::kAnswer, 2);
  EXPECT_FALSE(Add(Put(2), 0, 4).ok()) << "of another";
  open_.EndBy(AccessEnd::kAnswer, 1);
  EXPECT_TRUE(Add(Put(2), 0, 4).ok());
  EXPECT_FALSE(Add(Put(2), 4, 8).ok());
  open_.EndBy(AccessEnd::kNotification, 1);
  EXPECT_TRUE(Add(Put(2), 4, 8).ok());
  EXPECT_FALSE(Add(Put(2), 8, 12).ok());
  open_.EndReads(1);
  EXPECT_TRUE(Add(Put(2), 8, 12).ok());
  EXPECT_FALSE(Add(Get(2), 12, 16).ok());
  EXPECT_FALSE(Add(Get(2), 16, 20).ok());
}

TEST_F(OpenAccessesTest, RunsOfALayout) {
  TypedLayout even;
  ASSERT_TRUE(TypedLayout::Repeat(4, 8, TypedLayout::Run(Element::kByte, 4), &even).ok());
  EXPECT_TRUE(open_.Add(Put(1), even, 1, 0).ok());
  EXPECT_TRUE(open_.Add(Put(2), even, 1, 4).ok()) << "between them";
  EXPECT_FALSE(open_.Add(Get(3), even, 1, 2).ok());
  TypedLayout twice;
  ASSERT_TRUE(TypedLayout::Repeat(2, 2, TypedLayout::Run(Element::kByte, 4), &twice).ok());
  EXPECT_TRUE(open_.Add(Get(3), twice, 1, 1000).ok());
  EXPECT_FALSE(open_.Add(Put(3), twice, 1, 2000).ok()) << "it overlaps itself";
}

// Beside one that looks at each byte.
TEST_F(OpenAccessesTest, MatchesASearchByByte) {
  constexpr int64_t kBytes = 64;
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    OpenAccesses open(0, 0);
    std::vector<std::tuple<Access, int64_t, int64_t>> kept;
    for (int i = 0; i < 12; ++i) {
      if (random() % 5 == 0) {
        const int origin = static_cast<int>(random() % 3);
        open.EndAll(origin);
        kept.erase(
            std::remove_if(kept.begin(), kept.end(),
                           [&](const auto& one) { return std::get<Access>(one).origin == origin; }),
            kept.end());
        continue;
      }
      const int origin = static_cast<int>(random() % 3);
      const Access access = random() % 3 == 0 ? Put(origin) : Get(origin);
      const auto begin = static_cast<int64_t>(random() % kBytes);
      const int64_t end = begin + 1 + static_cast<int64_t>(random() % 16);
      const bool conflicts = std::any_of(kept.begin(), kept.end(), [&](const auto& one) {
        const auto& [other, from, to] = one;
        return from < end && begin < to && (access.kind == Kind::kPut || other.kind == Kind::kPut);
      });
      const Status status =
          open.Add(access, TypedLayout::Run(Element::kByte, end - begin), 1, begin);
      ASSERT_EQ(status.ok(), !conflicts) << "round " << round << ", " << status.message();
      if (conflicts) break;
      kept.emplace_back(access, begin, end);
    }
  }
}

}  // namespace
}  // namespace brigade
