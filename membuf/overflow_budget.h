// OverflowBudget: the limit and the amount of memory beyond staging memory that holds sent messages
// which are not received yet. All owners of this memory take it from one budget: the overflow arena
// of an engine, and the transport under it.
//
// Not thread-safe.

#ifndef BRIGADE_MEMBUF_OVERFLOW_BUDGET_H_
#define BRIGADE_MEMBUF_OVERFLOW_BUDGET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace brigade {

struct OverflowStatistics {
  size_t in_use_bytes = 0;
  size_t high_water_bytes = 0;
  uint64_t blocks = 0;    // taken into use since creation
  uint64_t refusals = 0;  // refused by a limit
};

class OverflowBudget {
 public:
  // The limit "as much as is available": reads the available memory from the system before growing.
  static constexpr size_t kAvailableMemory = SIZE_MAX;

  // `limit_bytes`: most bytes in use at once.
  explicit OverflowBudget(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  OverflowBudget(const OverflowBudget&) = delete;
  OverflowBudget& operator=(const OverflowBudget&) = delete;

  // Whether so much more may be taken; `fresh`: from the system. A no is a refusal, and counted.
  bool MayTake(size_t bytes, bool fresh);
  // Takes memory even beyond the limit: for small overheads of memory that is limited otherwise.
  void Take(size_t bytes);
  void Return(size_t bytes);
  // The system had no more.
  void CountRefusal() { ++statistics_.refusals; }

  size_t left_bytes() const {
    return limit_bytes_ - std::min(limit_bytes_, statistics_.in_use_bytes);
  }
  const OverflowStatistics& statistics() const { return statistics_; }

 private:
  bool MayGrow(size_t bytes);

  const size_t limit_bytes_;
  size_t allowance_bytes_ = 0;  // what may still be allocated before asking the system again
  OverflowStatistics statistics_;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_OVERFLOW_BUDGET_H_
