#include "patterns/engine/memory_wait.h"

#include <string>

#include "membuf/overflow_budget.h"

namespace brigade {

Status MemoryWait::Check(double most_seconds, size_t overflow_bytes) {
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point()) since_ = now;
  const std::chrono::duration<double> waited = now - since_;
  if (waited.count() <= most_seconds) return Status();
  // A higher number of bytes does not help where the system has no more memory.
  const std::string limit =
      overflow_bytes == OverflowBudget::kAvailableMemory
          ? "what the system has; receive earlier, or raise BRIGADE_OVERFLOW_WAIT "
            "(brigade_options::overflow_wait_seconds)"
          : std::to_string(overflow_bytes) +
                " bytes; receive earlier, or raise BRIGADE_OVERFLOW_BYTES or BRIGADE_OVERFLOW_WAIT "
                "(brigade_options::overflow_bytes, overflow_wait_seconds)";
  return Status(StatusCode::kTimedOut,
                "no staging memory for " + std::to_string(waited.count()) +
                    " s: receivers do not drain and overflow memory is at its limit of " + limit);
}

}  // namespace brigade
