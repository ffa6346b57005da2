// Replaces operator new: a test counts the allocations of a thread, or makes all of them fail. For
// one source file of a program.
//
// Not inlined, or the compiler takes the pair of `new` and `free` for a mistake. The sanitizer has
// a `new` of its own for each that is missing here, and wants its own `delete` for that.

#ifndef BRIGADE_TEST_SUPPORT_COUNTED_NEW_H_
#define BRIGADE_TEST_SUPPORT_COUNTED_NEW_H_

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

inline thread_local bool no_memory_is_left = false;
inline thread_local int allocations = 0;

[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return no_memory_is_left ? nullptr : std::malloc(std::max<size_t>(bytes, 1));
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

#endif  // BRIGADE_TEST_SUPPORT_COUNTED_NEW_H_
