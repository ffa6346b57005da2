// WireIds: how the members of a new group agree on its identity on the wire.
//
// Each member proposes the number after all that it has seen; the largest is taken. So two groups
// that share a rank never have the same one, and no rank is asked that is not a member.

#ifndef BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_
#define BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_

#include <algorithm>
#include <cstdint>
#include <functional>

namespace brigade {

class WireIds {
 public:
  // What this rank proposes. Members gather it together with what else they tell each other.
  uint64_t proposal() const { return next_; }

  // The identity of the new group. `all`: what each member has said; `proposal_of` tells, or is the
  // member of it that holds, the proposal.
  template <typename Contributions, typename ProposalOf>
  uint64_t Agree(const Contributions& all, ProposalOf proposal_of) {
    uint64_t wire_id = 0;
    for (const auto& contribution : all) {
      wire_id = std::max<uint64_t>(wire_id, std::invoke(proposal_of, contribution));
    }
    next_ = wire_id + 1;
    return wire_id;
  }

  // Whether a group that this rank might have been in had it. If none of its groups has it now, it
  // is closed; where this says no, this rank has not heard of it yet.
  bool IsPast(uint64_t wire_id) const { return wire_id < next_; }

 private:
  uint64_t next_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_WIRE_IDS_H_
