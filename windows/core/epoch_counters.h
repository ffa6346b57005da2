// EpochCounters: how often each member has come to a fence, posted its window to this rank and
// completed its access to it, and how many of these this rank has used up.
//
// Where every member sees the page of every other one, a counter is a flag in the page of the rank
// that waits for it, and its member stores to it. Elsewhere the counters are those of the control
// messages that have come (ServedWindow).

#ifndef BRIGADE_WINDOWS_CORE_EPOCH_COUNTERS_H_
#define BRIGADE_WINDOWS_CORE_EPOCH_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "windows/memory/member_page.h"
#include "windows/message/served_window.h"

namespace brigade {

class EpochCounters {
 public:
  // `served` must outlive it. Flags are not used yet.
  EpochCounters(const ServedWindow* served, int members);

  // `pages`: of all members, where this rank sees them.
  void UseFlags(std::vector<MemberPage> pages) { pages_ = std::move(pages); }
  bool uses_flags() const { return !pages_.empty(); }

  // Store this rank's next count. REQUIRE: uses_flags().
  void SetFence();
  void SetPost(const std::vector<int>& origins) {
    Set(&MemberPage::EpochFlags::posts, origins, &posts_);
  }
  void SetComplete(const std::vector<int>& targets) {
    Set(&MemberPage::EpochFlags::completes, targets, &completes_);
  }

  // Whether a member has come to the fence at which this rank is. REQUIRES: uses_flags().
  bool IsAtFence(int member) const;
  // Whether there is a post, a completion, that was not used up.
  bool HasPosted(int target) const;
  bool HasCompleted(int origin) const;
  // Use one up.
  void UsePost(int target) { ++posts_used_[static_cast<size_t>(target)]; }
  void UseComplete(int origin) { ++completes_used_[static_cast<size_t>(origin)]; }
  // How many were, which is the number of the last epoch with that target, with that origin.
  uint64_t posts_used(int target) const { return posts_used_[static_cast<size_t>(target)]; }
  uint64_t completes_used(int origin) const { return completes_used_[static_cast<size_t>(origin)]; }

 private:
  using Flag = std::atomic<uint64_t> MemberPage::EpochFlags::*;
  using Count = std::vector<uint64_t> ServedWindow::*;

  void Set(Flag flag, const std::vector<int>& members, std::vector<uint64_t>* counts);
  uint64_t CountOf(int member, Flag flag, Count count) const;

  const ServedWindow* const served_;
  std::vector<MemberPage> pages_;  // empty: no flags are used
  // What this rank has stored.
  uint64_t fences_ = 0;
  std::vector<uint64_t> posts_;      // by origin
  std::vector<uint64_t> completes_;  // by target
  std::vector<uint64_t> posts_used_;
  std::vector<uint64_t> completes_used_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_EPOCH_COUNTERS_H_
