#include "windows/core/router.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/exposed_memory.h"
#include "windows/memory/member.h"

namespace brigade {
namespace {

constexpr int kMembers = 2;
constexpr size_t kBytes = 80;

// Rank 0 of members that all say what it says.
class SameOnAll : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return kMembers; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    for (size_t r = 0; r < kMembers; ++r) {
      std::memcpy(static_cast<std::byte*>(all) + r * bytes, mine, bytes);
    }
    return Status();
  }
};

class RouterTest : public testing::Test {
 protected:
  // Both members expose memory of this process, in units of 8 bytes.
  void Open(const WindowOptions& options, bool is_checked = false,
            WindowMemory kind = WindowMemory::kPrivate) {
    std::vector<MemberAttributes> members;
    for (auto& memory : memory_) {
      exposed_.emplace_back();
      const int64_t unit = kind == WindowMemory::kDynamic ? 1 : 8;
      ASSERT_TRUE(
          ExposedMemory::Create(kind, memory, kBytes, unit, kMembers, &exposed_.back()).ok());
      members.push_back(exposed_.back()->attributes());
    }
    if (is_elsewhere_) members[1].host = Host();
    SameOnAll bootstrap;
    ASSERT_TRUE(
        router_.Open(&bootstrap, std::move(members), options, is_checked, /*answers=*/true).ok());
  }
  // A put of so many words.
  RmaRequest Words(int64_t displacement, int64_t count) {
    RmaRequest request;
    request.rank = 1;
    request.displacement = displacement;
    request.target = {nullptr, &word_, count};
    request.send = {memory_[0], &word_, count};
    return request;
  }
  void ExpectRefused(RmaRequest request, const std::string& text) {
    const Status status = router_.Resolve(&request);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  const TypedLayout& word_ = TypedLayout::One(Element::kInt64);
  bool is_elsewhere_ = false;
  alignas(8) std::byte memory_[kMembers][kBytes];
  std::vector<std::unique_ptr<ExposedMemory>> exposed_;
  Router router_;
};

TEST_F(RouterTest, MappedMemoryIsReachedByLoadAndStore) {
  Open(WindowOptions());
  EXPECT_EQ(router_.direct(1)->mapped(), memory_[1]);
  EXPECT_TRUE(router_.is_direct());
  EXPECT_TRUE(router_.some_are_direct());
  EXPECT_FALSE(router_.has_mailboxes());
}

TEST_F(RouterTest, MemoryOfAnotherHostIsReachedByMessages) {
  is_elsewhere_ = true;
  Open(WindowOptions());
  EXPECT_EQ(router_.direct(0)->mapped(), memory_[0]);
  EXPECT_EQ(router_.direct(1), nullptr);
  EXPECT_EQ(router_.opened(1), nullptr);
  EXPECT_FALSE(router_.is_direct());
  EXPECT_FALSE(router_.some_are_direct());
}

TEST_F(RouterTest, TheOwnMemoryAloneIsReachedDirectlyIfTheOptionsSaySo) {
  WindowOptions options;
  options.goes_directly = false;
  Open(options);
  EXPECT_EQ(router_.direct(0)->mapped(), memory_[0]);
  EXPECT_EQ(router_.direct(1), nullptr);
  EXPECT_EQ(router_.opened(1), nullptr);
}

TEST_F(RouterTest, TheCheckingModeOpensMemoryAndSendsMessages) {
  Open(WindowOptions(), /*is_checked=*/true);
  EXPECT_EQ(router_.direct(0)->mapped(), memory_[0]);
  EXPECT_EQ(router_.direct(1), nullptr);
  EXPECT_NE(router_.opened(1), nullptr);
}

TEST_F(RouterTest, ARequestIsResolvedInUnitsOfItsTarget) {
  Open(WindowOptions());
  RmaRequest request = Words(3, 7);
  ASSERT_TRUE(router_.Resolve(&request).ok());
  EXPECT_EQ(request.offset, 24);
  ExpectRefused(Words(3, 8), "8 bytes beyond the window");
  ExpectRefused(Words(-1, 1), "displacement -1");
  ExpectRefused(Words(0, -1), "-1 values at rank 1");
}

TEST_F(RouterTest, ADatatypeMayLieBeforeItsDisplacement) {
  Open(WindowOptions());
  TypedLayout before;
  ASSERT_TRUE(TypedLayout::List({{-16, &word_}}, &before).ok());
  RmaRequest request = Words(11, 1);
  request.target.layout = &before;
  ASSERT_TRUE(router_.Resolve(&request).ok());
  EXPECT_EQ(request.offset, 88);
  request.displacement = 12;
  ExpectRefused(request, "8 bytes beyond the window");
  request.displacement = 1;
  ExpectRefused(request, "8 bytes before the window");
  request.displacement = INT64_MAX / 8;
  ExpectRefused(request, "beyond the window");
  request.displacement = INT64_MAX;
  ExpectRefused(request, "displacement outside the window");
}

TEST_F(RouterTest, ADynamicWindowBeginsAtItsAddress) {
  Open(WindowOptions(), /*is_checked=*/false, WindowMemory::kDynamic);
  EXPECT_TRUE(router_.has_dynamic());
  RmaRequest request = Words(4096, 1);
  ASSERT_TRUE(router_.Resolve(&request).ok());
  EXPECT_EQ(request.offset, 4096 - static_cast<int64_t>(kProcessAddress));
}

TEST_F(RouterTest, BothSidesOfARequestAreEquallyLong) {
  Open(WindowOptions());
  RmaRequest request = Words(0, 2);
  request.send.count = 3;
  ExpectRefused(request, "24 bytes here, and 16 at rank 1");
  request.rank = kMembers;
  ExpectRefused(request, "rank 2 of a window of 2 ranks");
}

TEST_F(RouterTest, AnAccumulateCombinesOneElementThatItsOperationIsDefinedFor) {
  Open(WindowOptions());
  RmaRequest request = Words(0, 2);
  request.kind = RmaKind::kAccumulate;
  request.op = CombineOp::kSum;
  ASSERT_TRUE(router_.Resolve(&request).ok());
  EXPECT_EQ(request.element, Element::kInt64);
  request.send.layout = &TypedLayout::One(Element::kDouble);
  ExpectRefused(request, "accumulates");
  request.target.layout = request.send.layout;
  request.op = CombineOp::kBitAnd;
  ExpectRefused(request, "is not defined for");
}

}  // namespace
}  // namespace brigade
