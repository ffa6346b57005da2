// What processes share begins a line of the caches, so that who waits for one word is not disturbed
// by what is done to others.

#ifndef BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_
#define BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_

#include <cstddef>

namespace brigade {

inline constexpr size_t kLineBytes = 64;

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_
