// Carriers: communicators of the library, each a duplicate of the communicator of some group; and
// the choice of one for each new group.
//
// A group whose members are all in a carrier uses it, with tags of its own: a program that creates
// contexts in a loop makes a communicator only for members that it has not had recently, or when
// MPI's tags are used up. Unused carriers are freed, the longest unused first, except for the last
// few.

#ifndef BRIGADE_TRANSPORT_MPI_CARRIERS_H_
#define BRIGADE_TRANSPORT_MPI_CARRIERS_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "membuf/check.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/channel.h"
#include "transport/core/wire_ids.h"
#include "transport/mpi/mpi_bootstrap.h"

namespace brigade::mpi {

// For every group whose members it includes.
struct Carrier {
  // Of the group it was made for: equal on all its members; no two carriers that share a rank have
  // the same.
  uint64_t first_wire_id;
  MPI_Comm comm = MPI_COMM_NULL;
  // For control messages, so that a probe finds no other messages; none if there is one member.
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  size_t groups = 0;  // of this rank that use it
};

// A group's place on its carrier.
struct CarrierUse {
  int RankOf(int peer) const {
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), ranks.size());
    return ranks[peer];
  }
  int TagOf(ChannelKind kind) const { return first_tag + static_cast<int>(kind); }

  std::list<Carrier>::iterator carrier;
  int first_tag = 0;
  std::vector<int> ranks;          // in the carrier
  bool shares_processors = false;  // its ranks on this host outnumber them
};

class Carriers {
 public:
  using iterator = std::list<Carrier>::iterator;

  explicit Carriers(int max_tag) : max_wire_ids_((uint64_t{1} + max_tag) / kChannelKinds) {}
  ~Carriers() {
    while (!carriers_.empty()) Free(carriers_.begin());
  }
  Carriers(const Carriers&) = delete;
  Carriers& operator=(const Carriers&) = delete;

  // The members agree on a wire id, larger than any that a member has seen, and on a carrier.
  // They make a new one unless each of them proposes the same and it has tags left. Counts the
  // group as a user of the carrier, and sets `*group`.
  Status Agree(MpiBootstrap* bootstrap, CarrierUse* group);
  // The same on the carrier of the parent, which all members use. `members`: ranks of the parent.
  Status AgreeByParent(Bootstrap* bootstrap, const CarrierUse& parent,
                       const std::vector<int>& members, CarrierUse* group);
  // To be called when a group of this carrier is erased.
  void Leave(iterator carrier);
  // Forgets all carriers, in a forked child. REQUIRES: no group is used any more.
  void LeaveToParent() { carriers_.clear(); }
  const std::list<Carrier>& all() const { return carriers_; }

 private:
  // The newest carrier that has all members, and their ranks in it; carriers_.end() if there is
  // none. Each member had it once, so all find the same one, unless some have freed it since. Then
  // they make one that is newer still, and find that the next time.
  Status Find(MpiBootstrap* bootstrap, iterator* found, std::vector<int>* ranks);
  Status Make(MPI_Comm comm, uint64_t first_wire_id, iterator* made);
  // Local, as in every MPI we know of: the other members free theirs when they have no more use for
  // it, or at the end.
  void Free(iterator carrier);

  const uint64_t max_wire_ids_;  // per carrier
  WireIds wire_ids_;
  std::list<Carrier> carriers_;  // the idle ones in the order in which they fell idle
};

}  // namespace brigade::mpi

#endif  // BRIGADE_TRANSPORT_MPI_CARRIERS_H_
