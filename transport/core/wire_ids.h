// WireIds: how the members of a new group agree on its identity on the wire.
//
// Each member proposes the successor of all numbers that it has seen; the largest is taken. Two
// groups that share a rank therefore have different numbers, and only members communicate.

#ifndef BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_
#define BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_

#include <algorithm>
#include <cstdint>
#include <functional>

namespace brigade {

class WireIds {
 public:
  // Returns the proposal of this rank. Members gather it together with other values.
  uint64_t proposal() const { return next_; }

  // Returns the identity of the new group. `all`: the gathered value of each member; `proposal_of`:
  // a function or data member that gives the proposal in a value.
  template <typename Contributions, typename ProposalOf>
  uint64_t Agree(const Contributions& all, ProposalOf proposal_of) {
    uint64_t wire_id = 0;
    for (const auto& contribution : all) {
      wire_id = std::max<uint64_t>(wire_id, std::invoke(proposal_of, contribution));
    }
    next_ = wire_id + 1;
    return wire_id;
  }

  // Returns whether a group that this rank might have been in has used `wire_id`. If true and no
  // open group has it, the group is closed; if false, this rank does not know the group yet.
  bool IsPast(uint64_t wire_id) const { return wire_id < next_; }

 private:
  uint64_t next_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_
