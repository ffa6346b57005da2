// Router: how this rank reaches the memory of each member of a window.

#ifndef BRIGADE_WINDOWS_CORE_ROUTER_H_
#define BRIGADE_WINDOWS_CORE_ROUTER_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window_options.h"
#include "windows/memory/member.h"
#include "windows/memory/target_memory.h"
#include "windows/message/rma_request.h"

namespace brigade {

class Router {
 public:
  // Collective. Opens the memory of all `members`, whose targets must live until this returns.
  // `is_checked`: all but the own memory is reached by messages. `answers`: a progress thread of
  // this rank carries out requests.
  Status Open(Bootstrap* bootstrap, std::vector<MemberAttributes> members,
              const WindowOptions& options, bool is_checked, bool answers);

  // Returns the memory of a member that this rank reaches without messages; null: there is none.
  const TargetMemory* direct(int rank) const { return direct_[static_cast<size_t>(rank)]; }
  // The same, although the checking mode does not let operations reach it.
  const TargetMemory* opened(int rank) const { return targets_[static_cast<size_t>(rank)].get(); }
  const MemberAttributes& member(int rank) const { return members_[static_cast<size_t>(rank)]; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  // Whether no rank needs messages to reach another, some rank reaches another without, and some
  // memory is dynamic. The same on all.
  bool is_direct() const { return is_direct_; }
  bool some_are_direct() const { return some_are_direct_; }
  // Whether all ranks map the memory of all, and whether progress threads of all ranks carry out
  // requests. The same on all.
  bool all_are_mapped() const { return all_are_mapped_; }
  bool all_answer() const { return all_answer_; }
  bool has_dynamic() const;
  // Whether all ranks map the mailboxes of all. The same on all.
  bool has_mailboxes() const { return has_mailboxes_; }
  // Whether another rank may delegate operations to this one that the kernel could carry out.
  bool is_delegate() const { return is_delegate_; }

  // Whether a member's memory is private, reached by the kernel, and all of it there. In memory of
  // kProcess and kDynamic a wrong address would end the target, and not the call.
  bool IsPrivate(int rank) const {
    return direct(rank) != nullptr && direct(rank)->mapped() == nullptr &&
           member(rank).kind == WindowMemory::kPrivate;
  }
  // Whether the kernel would carry out the request block by block, which takes so long that a
  // message to the target is faster.
  bool IsScattered(const RmaRequest& request) const {
    return has_short_blocks_ && IsPrivate(request.rank) && HasManyBlocks(request);
  }

  Status CheckRank(int rank) const {
    return rank >= 0 && rank < size() ? Status() : NoSuchRank(rank);
  }
  // Finds `offset` and `element`. Returns kInvalidArgument if the target does not exist, if the
  // bytes of both sides differ or do not lie in its memory, or if `op` does not combine them.
  Status Resolve(RmaRequest* request) const;

  std::vector<std::unique_ptr<TargetMemory>> TakeTargets() { return std::move(targets_); }

 private:
  static bool HasManyBlocks(const RmaRequest& request);
  Status NoSuchRank(int rank) const;

  int rank_ = 0;
  int size_ = 0;
  std::vector<MemberAttributes> members_;
  std::vector<std::unique_ptr<TargetMemory>> targets_;
  std::vector<const TargetMemory*> direct_;
  bool is_direct_ = true;
  bool some_are_direct_ = false;
  bool all_are_mapped_ = true;
  bool all_answer_ = false;
  bool has_mailboxes_ = false;
  bool is_delegate_ = false;
  bool has_short_blocks_ = true;  // as in the options
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_ROUTER_H_
