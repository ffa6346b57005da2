// Allocations: memory of MPI_Alloc_mem, which the ranks of the host can map once a window exposes
// it. Thread-safe.

#ifndef BRIGADE_RMA_SHIM_ALLOCATIONS_H_
#define BRIGADE_RMA_SHIM_ALLOCATIONS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "transport/edge/shared_segment.h"

namespace brigade {
namespace rma {

class Allocations {
 public:
  // Of this process, for as long as it lives.
  static Allocations& Here();

  // Whole pages, zeroed. Null: there are none, or BRIGADE_RMA=off.
  void* Allocate(size_t bytes);
  // False: it is none of ours.
  bool Free(void* memory);
  // The segment that so much memory lies in. Null: it is not all in one of these allocations.
  std::shared_ptr<SharedSegment> Holding(const void* memory, size_t bytes);
  // How often the system was asked what it has left, which takes longer than a little memory does.
  int looks() const { return looks_; }

 private:
  struct Allocation {
    std::shared_ptr<SharedSegment> segment;
    size_t bytes = 0;
  };

  Allocations();
  // Whether the system would rather give it than end processes.
  bool IsAvailable(size_t bytes);

  const bool is_on_;
  std::mutex mutex_;
  int looks_ = 0;
  size_t until_look_ = 0;  // bytes to be allocated before it is looked anew at what is left
  std::shared_ptr<SharedSegment> last_;  // the one that new memory is taken from
  std::map<const std::byte*, Allocation> allocations_;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_ALLOCATIONS_H_
