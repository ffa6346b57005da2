// LossWatch: notices that a member of a group is lost although nothing is under way with it.
//
// A receive is posted from every other member, on a channel on which no rank sends. It ends when
// its sender is lost, and not before. Where losses are not reported none is posted.

#ifndef BRIGADE_WINDOWS_CORE_LOSS_WATCH_H_
#define BRIGADE_WINDOWS_CORE_LOSS_WATCH_H_

#include <deque>

#include "membuf/status.h"
#include "patterns/engine/group_state.h"
#include "transport/completion.h"
#include "transport/endpoint.h"

namespace brigade {

class LossWatch {
 public:
  // Begins to watch, unless it does so already. REQUIRES: the caller is the progress owner; the
  // group is closed before this is destroyed (GroupState::companion).
  void Begin(Endpoint* endpoint, const GroupState& group);
  // The first loss.
  const Status& loss() const { return loss_; }

 private:
  struct Receive : Completion {
    Receive() : Completion(&LossWatch::OnEnd) {}
    LossWatch* watch = nullptr;
    int peer = 0;
  };
  static void OnEnd(Completion* completion);

  bool watches_ = false;
  std::deque<Receive> receives_;
  Status loss_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_LOSS_WATCH_H_
