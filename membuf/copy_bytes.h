// CopyBytes: copies one run of bytes, as fast as possible.
//
// It is memcpy, except for one case: if `to` begins 1 to 31 bytes behind `from`, both counted
// within their pages, glibc's memcpy takes up to 20 times as long on some AMD processors, since it
// leaves long runs to `rep movsb`, which then moves a byte at a time. Matrices from malloc begin 16
// bytes behind the start of a page, so this is not rare.

#ifndef BRIGADE_MEMBUF_COPY_BYTES_H_
#define BRIGADE_MEMBUF_COPY_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/rules.h"

namespace brigade {

// Returns whether this is that case.
inline bool IsSlowForMemcpy(const std::byte* to, const std::byte* from, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  constexpr uintptr_t kTooClose = 32;
  if (bytes <= rules::kMostCopiedByMemcpy) return false;
  const uintptr_t behind =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  return behind > 0 && behind < kTooClose && bytes < rules::kLeastStreamedByMemcpy;
}

// Copies by moves of registers, for that case.
void CopyBytesByMoves(std::byte* to, const std::byte* from, size_t bytes);

// Copies `bytes` bytes. The two sides must not overlap, and are not accessed if `bytes` is 0.
inline void CopyBytes(std::byte* to, const std::byte* from, size_t bytes) {
  if (IsSlowForMemcpy(to, from, bytes)) {
    CopyBytesByMoves(to, from, bytes);
  } else if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COPY_BYTES_H_
