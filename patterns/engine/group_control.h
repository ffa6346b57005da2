// GroupControl: handles the control messages of one group: reports that it is broken, and
// enquiries. Passes all others to another handler.

#ifndef BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_
#define BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "patterns/engine/abort.h"
#include "transport/control.h"

namespace brigade {

struct GroupState;

class GroupControl final : public ControlHandler {
 public:
  using OnEnquiry = std::function<void(int from, ConstByteSpan message)>;

  // The group is put into `failing` when a member reports that it is broken. Both must outlive
  // this.
  GroupControl(GroupState* group, std::vector<GroupState*>* failing, OnEnquiry on_enquiry)
      : group_(group), failing_(failing), on_enquiry_(std::move(on_enquiry)) {}

  // The kind of an enquiry (match_check.h). Smaller ones are those of an abort.
  static constexpr uint8_t kEnquiry = 3;

  // Kinds of control messages, their first bytes, from here on are not this class's affair.
  static constexpr uint8_t kFirstKindOfOthers = 16;

  // The handler of those, from now on; null: none.
  void SetOther(ControlHandler* other) { other_ = other; }

  void OnControl(int from, ConstByteSpan message) override;

  // The member that reported that the group is broken; -1: none.
  int from() const { return from_; }
  // Whether the whole report has come, or is not waited for, since its sender may be lost.
  bool knows_all() const;
  const Abort& abort() const { return reader_.abort(); }

 private:
  GroupState* const group_;
  std::vector<GroupState*>* const failing_;
  const OnEnquiry on_enquiry_;
  ControlHandler* other_ = nullptr;
  AbortReader reader_;
  int from_ = -1;
  bool complete_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_GROUP_CONTROL_H_
