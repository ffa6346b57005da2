// GroupControl: hears the control messages of one group.

#ifndef BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_
#define BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_

#include <chrono>
#include <vector>

#include "membuf/byte_span.h"
#include "patterns/engine/abort.h"
#include "transport/control.h"

namespace brigade {

struct GroupState;

class GroupControl final : public ControlHandler {
 public:
  // The group is put into `failing` when somebody tells that it is broken. Both must outlive this.
  GroupControl(GroupState* group, std::vector<GroupState*>* failing)
      : group_(group), failing_(failing) {}

  void OnControl(int from, ConstByteSpan message) override;

  // The member who tells that the group is broken; -1: nobody.
  int from() const { return from_; }
  // Whether all of that has come, or is waited for no longer: its sender may be gone.
  bool knows_all() const;
  const Abort& abort() const { return reader_.abort(); }

 private:
  GroupState* const group_;
  std::vector<GroupState*>* const failing_;
  AbortReader reader_;
  int from_ = -1;
  bool complete_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_
