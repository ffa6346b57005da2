// Each word that processes share begins a line of the caches, so that a wait for one is not
// disturbed by stores to others.

#ifndef BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_
#define BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_

#include <cstddef>

namespace brigade {

inline constexpr size_t kCacheLineBytes = 64;

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_CACHE_LINE_H_
