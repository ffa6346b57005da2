// The failures of an engine's groups: what breaks one, who learns of it, and how its calls end.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "patterns/engine/abort.h"
#include "patterns/engine/activity.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_control.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/match_check.h"
#include "patterns/engine/out_of_memory.h"

namespace brigade {

void Engine::BreakGroup(GroupState* group, const Status& status, const Abort& cause) {
  const Status noted = CatchOutOfMemory([&] {
    // Whoever is gone may have said why.
    if (group->failure.ok() && status.code() == StatusCode::kPeerLost) (void)endpoint_->Progress();
    if (!HasFailed(group)) {
      group->failure = status;
      group->cause = cause;
    }
    return Status();
  });
  if (group->failure.ok()) group->failure = noted;
  failing_.erase(std::remove(failing_.begin(), failing_.end(), group), failing_.end());
  if (group->closed || IsForked()) return;  // the parent may not have failed
  // The calls end even if others cannot be notified: the memory of a call may be freed soon.
  (void)CatchOutOfMemory([&] { return AnnounceFailure(*group), Status(); });
  announces_failure_ = true;
  EndGroup(group);
}

void Engine::BreakGroup(GroupState* group, const Status& status) {
  Abort cause{group->rank, status.code(), {}, 0, {}};
  (void)CatchOutOfMemory([&] { return cause.text = status.message(), Status(); });
  BreakGroup(group, status, cause);
}

void Engine::AbandonGroup(GroupState* group) {
  failing_.erase(std::remove(failing_.begin(), failing_.end(), group), failing_.end());
  if (group->closed || IsForked()) return;
  if (group->failure.ok()) group->failure = {StatusCode::kAborted, "this rank has left the group"};
  EndGroup(group);
}

void Engine::EndGroup(GroupState* group) {
  group->closed = true;
  sends_.GiveUp(group);
  endpoint_->CloseGroup(group->id);
  for (Activity* activity : active_) {
    if (activity->group() == group) activity->End(group->failure);
  }
}

bool Engine::HasFailed(GroupState* group) {
  // A failure that another rank found first explains the failure that this rank has found since.
  if (group->closed || !group->control || !group->control->knows_all()) return !group->failure.ok();
  group->cause = group->control->abort();
  group->failure = group->cause.ToStatus();
  group->abort_from = group->control->from();
  return true;
}

void Engine::BreakFailing() {
  for (size_t i = 0; i < failing_.size();) {
    GroupState* const group = failing_[i];
    // A send to a lost rank has failed. That rank may have sent the reason before.
    if (group->failure.code() == StatusCode::kPeerLost) (void)endpoint_->Progress();
    if (HasFailed(group) && !group->is_held) {
      BreakGroup(group, group->failure, group->cause);  // which takes it out
    } else {
      ++i;
    }
  }
}

void Engine::OnEnquiry(GroupState* group, int from, ConstByteSpan message) {
  ++enquiries_;
  if (!group->failure.ok()) return;
  const std::optional<Abort> mismatch = AnswerEnquiry(*group, from, message);
  if (!mismatch) return;
  group->failure = mismatch->ToStatus();
  group->cause = *mismatch;
  failing_.push_back(group);
}

// The rank that finds the failure notifies all members. A rank that is notified forwards the
// messages to a few, so that all members get them even if the first rank dies while it sends.
void Engine::AnnounceFailure(const GroupState& group) {
  const std::vector<std::string> messages = group.cause.ToMessages();
  const auto tell = [&](int peer) {
    if (peer == group.rank || peer == group.abort_from || peer == group.cause.rank) return;
    for (const std::string& message : messages) {
      const ConstByteSpan bytes(reinterpret_cast<const std::byte*>(message.data()), message.size());
      // If SendControl fails, the peer is gone, and needs no further message.
      if (!endpoint_->SendControl(group.id, peer, bytes, Urgency::kUrgent).ok()) return;
    }
  };
  const int members = static_cast<int>(group.members());
  if (group.abort_from < 0) {
    for (int peer = 0; peer < members; ++peer) tell(peer);
    return;
  }
  for (int distance = 1; distance < members; distance *= 2) {
    tell((group.rank + distance) % members);
    tell((group.rank + members - distance) % members);
  }
}

}  // namespace brigade
