// Pointer and length in bytes: C++20's span<std::byte>.

#ifndef BRIGADE_MEMBUF_BYTE_SPAN_H_
#define BRIGADE_MEMBUF_BYTE_SPAN_H_

#include <cstddef>

namespace brigade {

struct ByteSpan {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

struct ConstByteSpan {
  ConstByteSpan() = default;
  ConstByteSpan(const std::byte* d, size_t b) : data(d), bytes(b) {}
  ConstByteSpan(const ByteSpan& s) : data(s.data), bytes(s.bytes) {}  // NOLINT: widening only

  const std::byte* data = nullptr;
  size_t bytes = 0;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_BYTE_SPAN_H_
