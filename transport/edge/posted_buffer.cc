#include "transport/edge/posted_buffer.h"

#include <memory>

#include "transport/host_memory/peer_mapping.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/rules.h"

namespace brigade {

bool PostedBuffer::IsFor(const StridedLayout& layout, const std::byte* base,
                         const KernelCopyRange& by_kernel) {
  RemoteStretches stretches;
  return AsStretches(layout, base, &stretches) &&
         (by_kernel.Holds(layout) ||
          (layout.bytes() >= rules::kLeastPostedBytes &&
           SharedAllocations::Here().Find(base, ExtentOf(stretches)) != nullptr));
}

bool PostedBuffer::Post(uint64_t number, const StridedLayout& layout, std::byte* base,
                        const KernelCopyRange& by_kernel) {
  const bool may_be_shared = layout.bytes() >= rules::kLeastPostedBytes;
  const bool may_go_by_kernel = by_kernel.IsLongEnough(layout);
  if (!(may_be_shared || may_go_by_kernel)) return false;
  RemoteStretches stretches;
  if (!AsStretches(layout, base, &stretches)) return false;
  const std::shared_ptr<SharedSegment> shared =
      may_be_shared ? SharedAllocations::Here().Find(base, ExtentOf(stretches)) : nullptr;
  if (shared == nullptr && !may_go_by_kernel) return false;
  memory = stretches;
  offset = shared == nullptr ? 0 : static_cast<uint64_t>(base - shared->base());
  // Without a store the sender still has the line in its cache.
  if (shared != nullptr && !(segment == shared->address())) segment = shared->address();
  state.store(StateOf(number, kPosted), std::memory_order_release);
  return true;
}

bool PostedBuffer::Withdraw(uint64_t number) {
  uint64_t now = StateOf(number, kPosted);
  return state.compare_exchange_strong(now, 0, std::memory_order_acq_rel) ||
         now != StateOf(number, kClaimed);
}

bool PostedBuffer::Claim(uint64_t number) {
  uint64_t now = StateOf(number, kPosted);
  return IsPosted(number) &&
         state.compare_exchange_strong(now, StateOf(number, kClaimed), std::memory_order_acq_rel);
}

}  // namespace brigade
