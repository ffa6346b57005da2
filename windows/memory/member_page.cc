#include "windows/memory/member_page.h"

#include "membuf/check.h"

namespace brigade {
namespace {

// Of the notification counters, which begin a cache line of their own.
size_t CountersOffset(size_t locks_offset, int members) {
  return (locks_offset + LockQueue::BytesFor(members) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

size_t MemberPage::BytesFor(int members) {
  return CountersOffset(sizeof(Front), members) +
         static_cast<size_t>(members) * sizeof(std::atomic<uint64_t>);
}

LockQueue MemberPage::locks() const { return LockQueue(memory_ + sizeof(Front), members_); }

std::atomic<uint64_t>& MemberPage::notified(int source) const {
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");
  BRIGADE_CHECK_LE(0, source);
  BRIGADE_CHECK_LT(source, members_);
  return reinterpret_cast<std::atomic<uint64_t>*>(memory_ +
                                                  CountersOffset(sizeof(Front), members_))[source];
}

}  // namespace brigade
