// RankMemory: memory of either kind for a rank's matrices.

#ifndef BRIGADE_TEST_SUPPORT_RANK_MEMORY_H_
#define BRIGADE_TEST_SUPPORT_RANK_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

#include "test/support/group_member.h"
#include "transport/host_memory/shared_allocations.h"

namespace brigade {

// Memory of brigade_alloc (mapped by all ranks), or ordinary memory.
class RankMemory {
 public:
  RankMemory(bool mapped, size_t bytes) : bytes_(bytes), mapped_(mapped) {
    if (mapped) {
      Require(SharedAllocations::Here().Allocate(bytes, &memory_));
    } else {
      memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory_ == MAP_FAILED) throw std::bad_alloc();
    }
  }
  ~RankMemory() {
    if (mapped_) {
      SharedAllocations::Here().Free(memory_);
    } else if (memory_ != nullptr) {
      Unmap();
    }
  }
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  // REQUIRES: it is ordinary.
  void Unmap() { munmap(std::exchange(memory_, nullptr), bytes_); }
  std::byte* data() { return static_cast<std::byte*>(memory_); }
  size_t bytes() const { return bytes_; }

 private:
  const size_t bytes_;
  const bool mapped_;
  void* memory_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_RANK_MEMORY_H_
