// TargetMemory: what an origin reaches by itself of one member's memory, on the same host.
//
// Either this process sees the memory, or the kernel reads and writes it on its behalf.

#ifndef BRIGADE_WINDOWS_MEMORY_TARGET_MEMORY_H_
#define BRIGADE_WINDOWS_MEMORY_TARGET_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "membuf/element.h"
#include "membuf/status.h"
#include "transport/host/host.h"
#include "transport/host_memory/shared_segment.h"
#include "windows/layout/layout_cursor.h"
#include "windows/memory/attached_ranges.h"
#include "windows/memory/member.h"
#include "windows/memory/member_page.h"
#include "windows/memory/process_memory.h"

namespace brigade {

class TargetMemory {
 public:
  // Null: nothing of it can be reached from here. The target must live until this returns.
  static std::unique_ptr<TargetMemory> Open(const MemberAttributes& target, const Host& here,
                                            int members);

  MemberPage page() const { return page_; }
  // The memory where this process sees it, else null.
  std::byte* mapped() const { return mapped_; }
  // Where this process maps its mailboxes; null: it has none.
  std::byte* mailboxes() const { return mailboxes_; }
  // The ranges of it that are attached. REQUIRES: it is kDynamic.
  AttachedRanges attached() const { return AttachedRanges(attached_); }

  // Each function below returns when its transfer is complete. It begins at the positions of the
  // cursors, and advances them. `offset` is the place of the first value in the target's memory.
  // Failures are those of ProcessMemory; mapped memory has none. REQUIRES: so many bytes are left,
  // and lie in the memory.
  Status Put(LayoutCursor* from, const std::byte* origin, int64_t bytes, LayoutCursor* to,
             int64_t offset) const;
  Status Get(LayoutCursor* from, int64_t offset, int64_t bytes, LayoutCursor* to,
             std::byte* origin) const;
  // `fetched`: where the old values go, packed, or null. kNoOp needs no `from` and no `origin`.
  // REQUIRES: the caller holds page().combining(); whole elements; IsDefined(op, element).
  Status Accumulate(CombineOp op, Element element, LayoutCursor* from, const std::byte* origin,
                    int64_t bytes, LayoutCursor* to, int64_t offset, std::byte* fetched) const;

 private:
  TargetMemory(std::shared_ptr<SharedSegment> segment, MemberPage page, uint64_t address,
               std::byte* mapped, std::byte* attached)
      : segment_(std::move(segment)),
        page_(page),
        address_(address),
        mapped_(mapped),
        attached_(attached) {}

  // Of one block, whose operand is packed, by the kernel.
  Status AccumulateBlock(CombineOp op, Element element, const std::byte* operand, int64_t bytes,
                         LayoutCursor* to, uint64_t base, std::byte* fetched) const;

  std::shared_ptr<SharedSegment> segment_;
  std::shared_ptr<SharedSegment> segment_of_memory_;  // null: of none that is shared
  MemberPage page_;
  std::optional<ProcessMemory> process_;  // of memory that this process does not see
  uint64_t address_;
  std::byte* mapped_;
  std::byte* attached_;
  std::byte* mailboxes_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_TARGET_MEMORY_H_
