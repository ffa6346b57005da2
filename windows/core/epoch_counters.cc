#include "windows/core/epoch_counters.h"

namespace brigade {

EpochCounters::EpochCounters(const ServedWindow* served, int members)
    : served_(served),
      posts_(static_cast<size_t>(members)),
      completes_(posts_),
      posts_used_(posts_),
      completes_used_(posts_) {}

void EpochCounters::SetFence() {
  ++fences_;
  for (const MemberPage& page : pages_) {
    page.epoch_flags_of(served_->rank).fences.store(fences_, std::memory_order_release);
  }
}

void EpochCounters::Set(Flag flag, const std::vector<int>& members, std::vector<uint64_t>* counts) {
  for (const int member : members) {
    const auto m = static_cast<size_t>(member);
    (pages_[m].epoch_flags_of(served_->rank).*flag)
        .store(++(*counts)[m], std::memory_order_release);
  }
}

bool EpochCounters::IsAtFence(int member) const {
  return served_->page.epoch_flags_of(member).fences.load(std::memory_order_acquire) >= fences_;
}

uint64_t EpochCounters::CountOf(int member, Flag flag, Count count) const {
  return uses_flags() ? (served_->page.epoch_flags_of(member).*flag).load(std::memory_order_acquire)
                      : (served_->*count)[static_cast<size_t>(member)];
}

bool EpochCounters::HasPosted(int target) const {
  return CountOf(target, &MemberPage::EpochFlags::posts, &ServedWindow::posted_by) >
         posts_used(target);
}

bool EpochCounters::HasCompleted(int origin) const {
  return CountOf(origin, &MemberPage::EpochFlags::completes, &ServedWindow::completed_by) >
         completes_used(origin);
}

}  // namespace brigade
