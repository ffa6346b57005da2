#include "transport/bootstrap/callback_bootstrap.h"

#include <cstring>
#include <memory>

#include "gtest/gtest.h"

namespace brigade {
namespace {

struct Context {
  int calls = 0;
  int value = 0;
};

// As if all three ranks had the same value.
int Gather(const void* mine, void* all, size_t bytes, void* context) {
  ++static_cast<Context*>(context)->calls;
  for (int rank = 0; rank < 3; ++rank) {
    std::memcpy(static_cast<char*>(all) + rank * bytes, mine, bytes);
  }
  return static_cast<Context*>(context)->value;
}

TEST(CallbackBootstrap, CallsTheFunction) {
  Context context;
  std::unique_ptr<Bootstrap> bootstrap;
  ASSERT_TRUE(CallbackBootstrap::Create(1, 3, Gather, &context, &bootstrap).ok());
  EXPECT_EQ(bootstrap->rank(), 1);
  EXPECT_EQ(bootstrap->size(), 3);
  const int mine = 7;
  int all[3] = {};
  ASSERT_TRUE(bootstrap->AllGather(&mine, sizeof(mine), all).ok());
  EXPECT_EQ(context.calls, 1);
  EXPECT_EQ(all[0] + all[1] + all[2], 21);
  int rank = 0, first = 0, other = 0;
  ASSERT_TRUE(bootstrap->FindDifference(&mine, sizeof(mine), &rank, &first, &other).ok());
  EXPECT_EQ(rank, -1);
}

TEST(CallbackBootstrap, NamesTheCallbackAndItsValue) {
  Context context;
  context.value = -17;
  std::unique_ptr<Bootstrap> bootstrap;
  ASSERT_TRUE(CallbackBootstrap::Create(2, 3, Gather, &context, &bootstrap).ok());
  char all[3];
  const Status status = bootstrap->AllGather("", 1, all);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "the allgather callback of the bootstrap returned -17 on rank 2 of 3, for 1 bytes per "
            "rank");
  // Other ranks may be in another call by now.
  context.value = 0;
  EXPECT_EQ(bootstrap->AllGather("", 1, all).ToString(), status.ToString());
}

TEST(CallbackBootstrap, RefusesWrongArguments) {
  std::unique_ptr<Bootstrap> bootstrap;
  const auto code = [&](int rank, int size, CallbackBootstrap::AllGatherFunction function) {
    return CallbackBootstrap::Create(rank, size, function, nullptr, &bootstrap).code();
  };
  EXPECT_EQ(code(0, 1, nullptr), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(-1, 3, Gather), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(3, 3, Gather), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(0, 0, Gather), StatusCode::kInvalidArgument);
  EXPECT_EQ(bootstrap, nullptr);
}

}  // namespace
}  // namespace brigade
