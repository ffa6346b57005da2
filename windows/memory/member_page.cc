#include "windows/memory/member_page.h"

namespace brigade {
namespace {

size_t UpToLine(size_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

// Each part behind another part begins in a cache line of its own.
size_t LocksOffset(size_t flags_offset, int members) {
  const bool has_flags = members <= MemberPage::kMaxFlagPeers;
  return flags_offset +
         (has_flags ? static_cast<size_t>(members) * sizeof(MemberPage::EpochFlags) : 0);
}
size_t CountersOffset(size_t flags_offset, int members) {
  return UpToLine(LocksOffset(flags_offset, members) + LockQueue::BytesFor(members));
}

}  // namespace

size_t MemberPage::BytesFor(int members) {
  return CountersOffset(sizeof(Front), members) +
         static_cast<size_t>(members) * sizeof(std::atomic<uint64_t>);
}

LockQueue MemberPage::locks() const {
  return LockQueue(memory_ + LocksOffset(sizeof(Front), members_), members_);
}

std::atomic<uint64_t>& MemberPage::notified(int source) const {
  BRIGADE_CHECK_LE(0, source);
  BRIGADE_CHECK_LT(source, members_);
  return reinterpret_cast<std::atomic<uint64_t>*>(memory_ +
                                                  CountersOffset(sizeof(Front), members_))[source];
}

}  // namespace brigade
