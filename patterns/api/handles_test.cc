// Exceptions become failures, even if no memory is left for a text.

#include "patterns/api/handles.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "gtest/gtest.h"
#include "membuf/status.h"

namespace {
thread_local bool no_memory_is_left = false;
}

// Not inlined, or the compiler takes the pair of `new` and `free` for a mistake. The sanitizer has
// a `new` of its own for each that is missing here, and wants its own `delete` for that.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return no_memory_is_left ? nullptr : std::malloc(std::max<size_t>(bytes, 1));
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

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
