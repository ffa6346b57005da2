#include "membuf/copy_bytes.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

constexpr size_t kPage = 4096;

std::byte* PageIn(std::vector<std::byte>* memory) {
  const auto begin = reinterpret_cast<uintptr_t>(memory->data());
  return memory->data() + (kPage - begin % kPage) % kPage;
}

// Neither more nor less is copied, however the two sides lie in their pages.
TEST(CopyBytesTest, CopiesTheGivenBytesOnly) {
  constexpr size_t kMost = 4 * rules::kMostCopiedByMemcpy;
  std::vector<std::byte> sources(kMost + 3 * kPage);
  std::vector<std::byte> targets(kMost + 3 * kPage);
  std::mt19937 random(1);
  for (std::byte& value : sources) value = static_cast<std::byte>(random());
  for (const size_t bytes : {size_t{0}, size_t{1}, rules::kMostCopiedByMemcpy,
                             rules::kMostCopiedByMemcpy + 1, kMost - 77, kMost}) {
    for (const size_t from_offset : {0, 1, 16, 4090}) {
      for (size_t behind = 0; behind <= 40; ++behind) {
        const std::byte* const from = PageIn(&sources) + from_offset;
        std::byte* const to = PageIn(&targets) + (from_offset + behind) % kPage;
        std::fill(targets.begin(), targets.end(), std::byte{0});
        CopyBytes(to, from, bytes);
        ASSERT_TRUE(std::equal(from, from + bytes, to)) << bytes << " bytes, " << behind;
        const auto untouched = [](std::byte value) { return value == std::byte{0}; };
        ASSERT_TRUE(std::all_of(targets.data(), to, untouched));
        ASSERT_TRUE(std::all_of(to + bytes, targets.data() + targets.size(), untouched));
      }
    }
  }
  CopyBytes(nullptr, nullptr, 0);
}

TEST(CopyBytesTest, KnowsWhereMemcpyIsSlow) {
  std::vector<std::byte> memory(3 * kPage);
  const std::byte* const page = PageIn(&memory);
  const size_t slow = rules::kMostCopiedByMemcpy + 1;
  for (const size_t at : {size_t{0}, size_t{100}}) {
    EXPECT_FALSE(IsSlowForMemcpy(page + at, page + at, slow));
    for (const size_t behind : {1, 16, 31}) {
      EXPECT_TRUE(IsSlowForMemcpy(page + at + behind, page + at, slow));
      EXPECT_TRUE(IsSlowForMemcpy(page + at + behind, page + kPage + at, slow));
      EXPECT_FALSE(IsSlowForMemcpy(page + at, page + at + behind, slow));
      EXPECT_FALSE(IsSlowForMemcpy(page + at + behind, page + at, slow - 1));
      EXPECT_FALSE(IsSlowForMemcpy(page + at + behind, page + at, rules::kLeastStreamedByMemcpy));
    }
    EXPECT_FALSE(IsSlowForMemcpy(page + at + 32, page + at, slow));
  }
}

TEST(CopyBytesTest, CopiesByMoves) {
  std::mt19937 random(2);
  for (size_t bytes = 0; bytes <= 600; ++bytes) {
    std::vector<std::byte> source(bytes + 1);
    for (std::byte& value : source) value = static_cast<std::byte>(random());
    std::vector<std::byte> target(bytes + 1);
    CopyBytesByMoves(target.data(), source.data(), bytes);
    ASSERT_EQ(target.back(), std::byte{0});
    ASSERT_TRUE(std::equal(source.begin(), source.end() - 1, target.begin()));
  }
}

}  // namespace
}  // namespace brigade
