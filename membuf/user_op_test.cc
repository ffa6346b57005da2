#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/naive_layout.h"
#include "membuf/strided_layout.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

// Integer matrices of 2 x 2, and bytes behind them: their product does not commute.
template <size_t kPadding>
struct Product {
  uint32_t a[4];
  std::byte padding[kPadding];

  static void Run(void* result, const void* left, const void* right, int64_t count, void* context) {
    auto* const seen = static_cast<Seen*>(context);
    seen->calls += 1;
    seen->elements += count;
    for (const void* operand : {const_cast<const void*>(result), left, right}) {
      seen->aligned &= reinterpret_cast<uintptr_t>(operand) % seen->alignment == 0;
    }
    for (int64_t i = 0; i < count; ++i) {
      const Product l = static_cast<const Product*>(left)[i];
      const Product r = static_cast<const Product*>(right)[i];
      static_cast<Product*>(result)[i] = Of(l, r);
    }
  }
  static Product Of(const Product& l, const Product& r) {
    Product product = l;
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 2; ++col) {
        product.a[2 * row + col] = l.a[2 * row] * r.a[col] + l.a[2 * row + 1] * r.a[2 + col];
      }
    }
    return product;
  }
  struct Seen {
    size_t alignment = 1;
    bool aligned = true;
    int64_t calls = 0;
    int64_t elements = 0;
  };
};

// Any layouts at any addresses: each element once, aligned, and no other byte touched.
template <size_t kPadding>
void ExpectUserOp(size_t alignment) {
  using P = Product<kPadding>;
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << sizeof(P) << " bytes");
  std::mt19937 random(seed);
  for (int round = 0; round < StressRounds(60, 2000); ++round) {
    struct Operand {
      LayoutShape shape;
      StridedLayout layout;
      std::vector<size_t> offsets;
      std::vector<std::byte> memory;
      size_t shift;
      std::byte* base() { return memory.data() + shift; }
      P Get(size_t i) {
        P value;
        std::memcpy(&value, base() + offsets[i * sizeof(P)], sizeof(P));
        return value;
      }
    };
    Operand operands[3];
    size_t elems = SIZE_MAX;
    for (Operand& o : operands) {
      o.shape = RandomShape(&random, 20, 20);
      o.shape.elem_bytes = sizeof(P);
      ASSERT_TRUE(o.shape.Make(&o.layout).ok());
      o.offsets = o.shape.MemoryOffsets();
      o.shift = random() % 3 == 0 ? 0 : random() % 64;
      o.memory.resize(o.shape.MemoryBytes() + 64);
      for (std::byte& byte : o.memory) byte = static_cast<std::byte>(random());
      elems = std::min(elems, o.layout.bytes() / sizeof(P));
    }
    Operand& dst = operands[round % 3];
    std::vector<std::byte> expected = dst.memory;
    for (size_t i = 0; i < elems; ++i) {
      const P product = P::Of(operands[0].Get(i), operands[1].Get(i));
      std::memcpy(&expected[dst.shift + dst.offsets[i * sizeof(P)]], &product, sizeof(P));
    }
    typename P::Seen seen;
    seen.alignment = alignment;
    const UserOp op{P::Run, &seen, sizeof(P), /*commutative=*/false};
    Combine(op, elems, {&dst.layout, dst.base(), 0, nullptr},
            {&operands[0].layout, operands[0].base(), 0, nullptr},
            {&operands[1].layout, operands[1].base(), 0, nullptr});
    ASSERT_EQ(dst.memory, expected);
    ASSERT_TRUE(seen.aligned);
    ASSERT_EQ(seen.elements, static_cast<int64_t>(elems));
  }
}

TEST(UserOpTest, WalksAnyLayoutsAligned) {
  ExpectUserOp<16>(32);
  ExpectUserOp<4>(4);
  ExpectUserOp<48>(64);
  ExpectUserOp<8192 - 16>(64);  // longer than a block
}

TEST(UserOpTest, RunsOnceWhereAllLies) {
  using P = Product<16>;
  alignas(64) P left[1000] = {};
  alignas(64) P right[1000] = {};
  const StridedLayout layout = StridedLayout::Contiguous(sizeof(left));
  typename P::Seen seen;
  const UserOp op{P::Run, &seen, sizeof(P), true};
  Combine(op, 1000, {&layout, reinterpret_cast<std::byte*>(left), 0, nullptr},
          {&layout, reinterpret_cast<std::byte*>(left), 0, nullptr},
          {&layout, reinterpret_cast<std::byte*>(right), 0, nullptr});
  EXPECT_EQ(seen.calls, 1);
}

TEST(UserOpTest, KeepsTheBlocksOfLongElements) {
  constexpr size_t kBytes = 8192;
  std::vector<std::byte> memory(kBytes + 1);
  std::byte* const unaligned = memory.data() + 1;
  const StridedLayout layout = StridedLayout::Contiguous(kBytes);
  const void* block = nullptr;
  const auto note = [](void*, const void* left, const void*, int64_t, void* context) {
    *static_cast<const void**>(context) = left;
  };
  const UserOp op{note, &block, kBytes, true};
  const auto combine = [&] {
    const ConstOperand operand{&layout, unaligned, 0, nullptr};
    Combine(op, 1, {&layout, unaligned, 0, nullptr}, operand, operand);
    return block;
  };
  const void* const first = combine();
  // These would take the place of blocks that were freed.
  std::vector<std::unique_ptr<void, decltype(&std::free)>> others;
  for (int i = 0; i < 8; ++i) others.emplace_back(std::aligned_alloc(64, 2 * kBytes), &std::free);
  EXPECT_EQ(combine(), first);
}

}  // namespace
}  // namespace brigade
