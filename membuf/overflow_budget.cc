#include "membuf/overflow_budget.h"

#include <algorithm>

#include "membuf/available_memory.h"
#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kMostAllowanceBytes = size_t{64} << 20;

}  // namespace

bool OverflowBudget::MayTake(size_t bytes, bool fresh) {
  if (bytes <= left_bytes() && (!fresh || MayGrow(bytes))) return true;
  CountRefusal();
  return false;
}

void OverflowBudget::Take(size_t bytes) {
  ++statistics_.blocks;
  statistics_.in_use_bytes += bytes;
  statistics_.high_water_bytes = std::max(statistics_.high_water_bytes, statistics_.in_use_bytes);
}

void OverflowBudget::Return(size_t bytes) {
  BRIGADE_CHECK_LE(bytes, statistics_.in_use_bytes);
  statistics_.in_use_bytes -= bytes;
}

// Takes a share of the available memory, not all of it: the other ranks of this machine see the
// same figure, and granted blocks that are not written to yet are still counted in it.
bool OverflowBudget::MayGrow(size_t bytes) {
  if (limit_bytes_ != kAvailableMemory) return true;
  if (allowance_bytes_ < bytes) {
    allowance_bytes_ =
        std::min(AvailableMemory(Swapping::kAvoided) / 8, std::max(kMostAllowanceBytes, bytes));
  }
  if (allowance_bytes_ < bytes) return false;
  allowance_bytes_ -= bytes;
  return true;
}

}  // namespace brigade
