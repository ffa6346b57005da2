// Activity: something under way that an engine advances, such as the operation of a pattern.

#ifndef BRIGADE_PATTERNS_ENGINE_ACTIVITY_H_
#define BRIGADE_PATTERNS_ENGINE_ACTIVITY_H_

#include <string>
#include <utility>

#include "membuf/status.h"
#include "patterns/engine/abort.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/time_limit.h"
#include "transport/channel.h"

namespace brigade {

class Activity {
 public:
  virtual ~Activity() = default;

  // Does what can be done now, without waiting. True if anything was done. REQUIRES: not done().
  virtual bool Advance() = 0;
  // Returns a text for errors and reports: what the activity is doing.
  virtual std::string Describe() const = 0;
  // The rank of its group that it waits for; -1 if for none.
  virtual int AwaitedPeer() const = 0;
  // Ends with `status` unless it is over, and frees its staging memory. REQUIRES: the group is
  // closed on the endpoint, so that nothing of it is posted.
  virtual void End(const Status& status) = 0;

  // It has waited for long: finds out whether others made the same call, and ends with kMismatch if
  // not. The rank that it waits for gets an enquiry, which also shows a transport that connects to
  // it now that it is lost. `is_awaited`: this rank makes no other call before the activity ends.
  // REQUIRES: it is the first that is not done in its order.
  virtual void CheckMatch(bool /*is_awaited*/) {}

  // Ends with kTimedOut. REQUIRES: is_late().
  virtual void TimeOut() = 0;
  // Whether it has taken longer than it may.
  bool is_late() const { return limit_.is_over(); }

  // Nobody takes it out of the order when it is done: the engine does.
  virtual bool leaves_by_itself() const { return false; }

  bool done() const { return done_; }
  // Returns whether its completion was not announced before.
  bool Announce() { return !std::exchange(is_announced_, true); }
  // REQUIRES: done().
  const Status& outcome() const { return outcome_; }
  // Of a failure of its own, as sent to other ranks.
  const Abort& cause() const { return cause_; }
  GroupState* group() const { return group_; }
  // Whether `other`, if it is later, must not begin yet. True of itself until it is done.
  bool HoldsUp(const Activity& other) const {
    return !done_ && group_ == other.group_ && channel_ == other.channel_ &&
           order_peer_ == other.order_peer_;
  }

 protected:
  GroupState* group_ = nullptr;
  ChannelKind channel_ = ChannelKind::kPointToPoint;
  int order_peer_ = -1;  // with its direction; -1: the channel has one order
  bool done_ = true;
  bool is_announced_ = false;
  Status outcome_;
  Abort cause_;
  TimeLimit limit_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ACTIVITY_H_
