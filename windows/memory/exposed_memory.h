// ExposedMemory: one member's memory in a window, on its own side.

#ifndef BRIGADE_WINDOWS_MEMORY_EXPOSED_MEMORY_H_
#define BRIGADE_WINDOWS_MEMORY_EXPOSED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/host_memory/shared_segment.h"
#include "windows/memory/attached_ranges.h"
#include "windows/memory/member.h"
#include "windows/memory/member_page.h"

namespace brigade {

class ExposedMemory {
 public:
  // Memory for `members` to reach. `memory`: of the user, for kPrivate; if it lies in a `segment`
  // of this process it is kShared all the same. Other shared memory is made here, zeroed, and
  // begins a page. Of kProcess and kDynamic `memory` and `bytes` are ignored. Beside private memory
  // there is an area, if it fits, without boxes. kOutOfMemory, kUnavailable (nothing can be shared
  // here).
  static Status Create(WindowMemory kind, std::byte* memory, size_t bytes, int64_t unit,
                       int members, std::unique_ptr<ExposedMemory>* exposed,
                       std::shared_ptr<SharedSegment> segment_of_memory = nullptr,
                       const MailboxSize& mailbox_size = MailboxSize());
  // The part of rank `rank` in shared memory where all parts, of `bytes` each, lie in a row. Rank 0
  // makes it, and `*first` is where it is, which the others are given. kUnavailable, too: it is
  // not to be seen from here.
  static Status CreatePart(int rank, const std::vector<size_t>& bytes, int64_t unit,
                           MemberAttributes* first, std::unique_ptr<ExposedMemory>* exposed);

  // Makes memory for the boxes of its area. kOutOfMemory.
  Status MakeBoxes(const MailboxSize& area);

  // For the other members.
  const MemberAttributes& attributes() const { return attributes_; }
  MemberPage page() const { return page_; }
  // The memory.
  std::byte* base() const { return base_; }
  // REQUIRES: it is kDynamic.
  AttachedRanges attached() const {
    return AttachedRanges(segment_->base() + attributes_.memory_offset);
  }

 private:
  ExposedMemory(std::shared_ptr<SharedSegment> segment, const MemberAttributes& attributes,
                MemberPage page, std::byte* base)
      : segment_(std::move(segment)), attributes_(attributes), page_(page), base_(base) {}

  std::shared_ptr<SharedSegment> segment_;
  std::shared_ptr<SharedSegment> segment_of_memory_;  // another, or null
  MemberAttributes attributes_;
  MemberPage page_;
  std::byte* base_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_EXPOSED_MEMORY_H_
