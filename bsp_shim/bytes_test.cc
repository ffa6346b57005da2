#include "bsp_shim/bytes.h"

#include "gtest/gtest.h"

namespace brigade {
namespace bsp {
namespace {

constexpr size_t kMuch = size_t{1} << 20;

TEST(Bytes, KeepTheirContentWhenTheyGrow) {
  Bytes bytes;
  *bytes.Extend(1) = std::byte{7};
  bytes.Extend(kMuch);
  EXPECT_EQ(bytes.size(), kMuch + 1);
  EXPECT_EQ(bytes.data()[0], std::byte{7});
}

TEST(Bytes, KeepMemoryThatIsUsedEachTime) {
  Bytes bytes;
  bytes.Extend(kMuch);
  for (int i = 0; i < 3; ++i) {
    bytes.Clear();
    EXPECT_NE(bytes.data(), nullptr);
    bytes.Extend(kMuch / 2);
  }
}

TEST(Bytes, GiveMuchMemoryBackThatIsHardlyUsed) {
  Bytes bytes;
  bytes.Extend(kMuch);
  bytes.Clear();
  bytes.Extend(kMuch / 5);
  bytes.Clear();
  EXPECT_EQ(bytes.data(), nullptr);
  EXPECT_EQ(bytes.size(), 0u);
}

TEST(Bytes, KeepLittleMemory) {
  Bytes bytes;
  bytes.Extend(100);
  bytes.Clear();
  bytes.Clear();
  EXPECT_NE(bytes.data(), nullptr);
}

}  // namespace
}  // namespace bsp
}  // namespace brigade
