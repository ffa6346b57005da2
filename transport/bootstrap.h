// Bootstrap: how the members of a new group find each other, before any channel exists.
//
// The job is launched and connected by something else (Open MPI, or a test that starts threads);
// this is all we ask of it. One bootstrap belongs to one group and knows its members in rank order.

#ifndef BRIGADE_TRANSPORT_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_BOOTSTRAP_H_

#include <cstddef>

#include "membuf/status.h"

namespace brigade {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Collective over the group: `mine` of every rank, in rank order, in `all` (size() * bytes).
  // `bytes` must be equal on all ranks. Blocks until every member has called.
  virtual Status AllGather(const void* mine, size_t bytes, void* all) = 0;

  // Collective over the group: compares `mine` of every rank with rank 0's. *rank is the lowest
  // that differs, or -1; what rank 0 and that one gave is in `first` and `other`. The same on all
  // ranks. Where groups are so large that nobody may hold what all members say, this is what can be
  // asked.
  virtual Status FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                                void* other);
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_H_
