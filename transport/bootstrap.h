// Bootstrap: how the members of a new group find each other, before any channel exists.
//
// Another layer launches and connects the job (MPI, functions of the program, an address, a group
// that exists, or a test that starts threads); the library needs only this interface of it. A
// bootstrap belongs to one group, and has its members in rank order.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "transport/channel.h"

namespace brigade {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // An open group of this rank's endpoint, and the ranks in it of the members.
  struct Parent {
    GroupId group = -1;
    const std::vector<int>* ranks = nullptr;
  };
  // Returns the group that the members are ranks of, and over which they gather, if there is one:
  // AllGather then posts and progresses on the endpoint. Transports that need more than gathers to
  // open a group open the new group by its parent.
  virtual std::optional<Parent> parent() const { return std::nullopt; }

  // Gathers `mine` of every rank, in rank order, in `all` (size() * bytes). Collective over the
  // group. `bytes` must be equal on all ranks. Blocks until every member has called.
  virtual Status AllGather(const void* mine, size_t bytes, void* all) = 0;

  // Compares `mine` of every rank with rank 0's. Collective over the group. *rank is the lowest
  // rank that differs, or -1; `first` and `other` get the values of rank 0 and of *rank. Results
  // are equal on all ranks. For groups so large that no rank may hold the values of all members.
  virtual Status FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                                void* other);
};

// Agrees whether a step has succeeded on all ranks. Collective over the group. *verdict is equal on
// all ranks: OK if `mine` is OK on all ranks; otherwise `mine` of the first rank that failed, with
// the number of that rank.
Status GatherOutcome(Bootstrap* bootstrap, const Status& mine, Status* verdict);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_H_
