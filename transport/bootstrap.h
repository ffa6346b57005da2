// Bootstrap: how the members of a new group find each other, before any channel exists.
//
// Another layer launches and connects the job (MPI, or a test that starts threads); the library
// needs only this interface of it. A bootstrap belongs to one group, and has its members in rank
// order.

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

  // Gathers `mine` of every rank, in rank order, in `all` (size() * bytes). Collective over the
  // group. `bytes` must be equal on all ranks. Blocks until every member has called.
  virtual Status AllGather(const void* mine, size_t bytes, void* all) = 0;

  // Compares `mine` of every rank with rank 0's. Collective over the group. *rank is the lowest
  // rank that differs, or -1; `first` and `other` get the values of rank 0 and of *rank. Results
  // are equal on all ranks. For groups so large that no rank may hold the values of all members.
  virtual Status FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                                void* other);
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_BOOTSTRAP_H_
