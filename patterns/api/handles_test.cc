// Exceptions become failures, even if no memory is left for a text.

#include "patterns/api/handles.h"

#include <new>
#include <stdexcept>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "test/support/counted_new.h"

namespace brigade {
namespace {

template <typename Exception>
brigade_status Throw(const Exception& exception) {
  return Enter(nullptr, [&]() -> Status { throw exception; });
}

TEST(Handles, AnExceptionBecomesAFailure) {
  EXPECT_EQ(Throw(std::runtime_error("what was wrong")), BRIGADE_INTERNAL);
  EXPECT_EQ(ErrorText(), "what was wrong");
  EXPECT_EQ(Throw(std::bad_alloc()), BRIGADE_OUT_OF_MEMORY);
  EXPECT_EQ(ErrorText(), "this process has no memory left");
  EXPECT_EQ(Throw(std::length_error("vector")), BRIGADE_OUT_OF_MEMORY);
  EXPECT_EQ(Throw(7), BRIGADE_INTERNAL);
}

TEST(Handles, AFailureForLackOfMemoryNeedsNone) {
  no_memory_is_left = true;
  const brigade_status status = Throw(std::bad_alloc());
  no_memory_is_left = false;
  EXPECT_EQ(status, BRIGADE_OUT_OF_MEMORY);
  EXPECT_EQ(ErrorText(), "this process has no memory left");
}

}  // namespace
}  // namespace brigade
