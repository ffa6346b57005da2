// GroupControl: hears the control messages of one group: those that say that it is broken,
// enquiries, and, for somebody else, all others.

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

  // The group is put into `failing` when somebody tells that it is broken. Both must outlive this.
  GroupControl(GroupState* group, std::vector<GroupState*>* failing, OnEnquiry on_enquiry)
      : group_(group), failing_(failing), on_enquiry_(std::move(on_enquiry)) {}

  // The kind of an enquiry (match_check.h). Smaller ones are those of an abort.
  static constexpr uint8_t kEnquiry = 3;

  // Kinds of control messages, their first bytes, from here on are not this class's affair.
  static constexpr uint8_t kFirstKindOfOthers = 16;

  // Is told of those, from now on; null: nobody.
  void SetOther(ControlHandler* other) { other_ = other; }

  void OnControl(int from, ConstByteSpan message) override;

  // The member who tells that the group is broken; -1: nobody.
  int from() const { return from_; }
  // Whether all of that has come, or is waited for no longer: its sender may be gone.
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
