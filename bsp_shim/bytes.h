// Bytes: memory that grows at its end. It begins where any type may, and is not zeroed.

#ifndef BRIGADE_BSP_SHIM_BYTES_H_
#define BRIGADE_BSP_SHIM_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace brigade {
namespace bsp {

class Bytes {
 public:
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  // Keeps the content, as far as it fits, but may move it: pointers into it become invalid.
  void Resize(size_t size) {
    if (size > capacity_) {
      capacity_ = std::max(size, 2 * capacity_);
      std::unique_ptr<std::byte[]> grown(new std::byte[capacity_]);
      if (size_ > 0) std::memcpy(grown.get(), data_.get(), size_);
      data_ = std::move(grown);
    }
    size_ = size;
  }
  // Empties it. Gives memory back of which less than a quarter was used: a process may get much
  // once.
  void Clear() {
    if (capacity_ > kMostIdleBytes && size_ < capacity_ / 4) {
      data_.reset();
      capacity_ = 0;
    }
    size_ = 0;
  }
  // Where `bytes` more are.
  std::byte* Extend(size_t bytes) {
    Resize(size_ + bytes);
    return data_.get() + size_ - bytes;
  }

 private:
  static constexpr size_t kMostIdleBytes = size_t{64} << 10;

  std::unique_ptr<std::byte[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_BYTES_H_
