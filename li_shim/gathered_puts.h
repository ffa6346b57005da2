// GatheredPuts: short puts to the memory of one process that wait for each other, and go as one put
// of many blocks. Where a put costs a message or a system call that costs less than one by one.

#ifndef BRIGADE_LI_SHIM_GATHERED_PUTS_H_
#define BRIGADE_LI_SHIM_GATHERED_PUTS_H_

#include <cstddef>
#include <vector>

#include "membuf/status.h"
#include "windows/core/window.h"
#include "windows/message/rma_request.h"

namespace brigade {
namespace li {

class GatheredPuts {
 public:
  // `segment_bytes`: of a segment of a message.
  explicit GatheredPuts(size_t segment_bytes) : segment_bytes_(segment_bytes) {}

  // Whether it is short; what is longer goes at once, since its cost is that of its bytes.
  bool Takes(size_t bytes) const;
  // Bytes that come to lie at an offset in the process's memory. REQUIRES: Takes(bytes).
  void Add(std::byte* source, size_t offset, size_t bytes);
  bool is_empty() const { return blocks_.empty(); }
  // They fill a segment, and should go while the next are gathered.
  bool is_full() const;
  // All of them as one put to `process`, and none are left. REQUIRES: there are some.
  Status Take(int process, OriginData* here, TargetData* there);

 private:
  struct Block {
    std::byte* source;
    size_t offset;
    size_t bytes;
  };

  size_t segment_bytes_;
  std::vector<Block> blocks_;
  size_t bytes_ = 0;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_GATHERED_PUTS_H_
