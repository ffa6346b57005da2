#include "blacs_shim/topology_letters.h"

#include <cctype>
#include <climits>
#include <map>

#include "gtest/gtest.h"

namespace brigade {
namespace blacs {
namespace {

constexpr Topology kBinomial{Shape::kTree, 2};
constexpr Topology kFree{Shape::kFree, 0};

std::map<char, Topology> LettersOfBoth(int branches, int rings) {
  std::map<char, Topology> letters = {
      {' ', kFree},
      {'I', {Shape::kIncreasingRings, 1}},
      {'D', {Shape::kDecreasingRings, 1}},
      {'F', {Shape::kIncreasingRings, INT_MAX}},
      {'T', {Shape::kTree, branches + 1}},
      {'M', {rings > 0 ? Shape::kIncreasingRings : Shape::kDecreasingRings, std::abs(rings)}},
  };
  for (char digit = '1'; digit <= '9'; ++digit) letters[digit] = {Shape::kTree, digit - '0' + 1};
  return letters;
}

template <typename Translate>
void ExpectExactly(const std::map<char, Topology>& expected, const Translate& translate) {
  for (int code = 0; code < 256; ++code) {
    const char letter = static_cast<char>(code);
    SCOPED_TRACE(code);
    const auto it = expected.find(static_cast<char>(std::toupper(code)));
    Topology topology;
    ASSERT_EQ(translate(letter, &topology), it != expected.end());
    if (it != expected.end()) {
      EXPECT_TRUE(topology == it->second);
    }
  }
}

TEST(TopologyLettersTest, EveryBroadcastLetterAndNoOther) {
  TopologySettings settings;
  settings.broadcast_branches = 4;
  settings.broadcast_rings = 3;
  auto expected = LettersOfBoth(4, 3);
  expected['S'] = {Shape::kSplitRing, 2};
  expected['H'] = kBinomial;
  ExpectExactly(expected, [&](char letter, Topology* topology) {
    return BroadcastTopology(letter, settings, topology);
  });
}

TEST(TopologyLettersTest, EveryCombineLetterAndNoOther) {
  TopologySettings settings;
  settings.combine_branches = 5;
  settings.combine_rings = -2;
  for (bool to_all : {false, true}) {
    auto expected = LettersOfBoth(5, -2);
    expected['S'] = {Shape::kIncreasingRings, 2};
    expected['H'] = to_all ? Topology{Shape::kHypercube, 2} : kBinomial;
    ExpectExactly(expected, [&](char letter, Topology* topology) {
      return CombineTopology(letter, settings, to_all, topology);
    });
  }
}

TEST(TopologyLettersTest, ExtremeSettingsDoNotOverflow) {
  TopologySettings settings;
  settings.broadcast_branches = INT_MAX;
  settings.broadcast_rings = INT_MIN;
  Topology topology;
  ASSERT_TRUE(BroadcastTopology('T', settings, &topology));
  EXPECT_TRUE((topology == Topology{Shape::kTree, INT_MAX}));
  ASSERT_TRUE(BroadcastTopology('M', settings, &topology));
  EXPECT_TRUE((topology == Topology{Shape::kDecreasingRings, INT_MAX}));
}

}  // namespace
}  // namespace blacs
}  // namespace brigade
