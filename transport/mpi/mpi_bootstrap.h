// MpiBootstrap: the members of an MPI communicator as the members of a new group.

#ifndef BRIGADE_TRANSPORT_MPI_MPI_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_MPI_MPI_BOOTSTRAP_H_

#include <mpi.h>

#include "membuf/status.h"
#include "transport/bootstrap.h"

namespace brigade {

class MpiBootstrap : public Bootstrap {
 public:
  // `comm` is an intracommunicator of exactly the members; the caller keeps it, and it must outlive
  // this. Its error handler applies to calls on it.
  explicit MpiBootstrap(MPI_Comm comm);

  MPI_Comm comm() const { return comm_; }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  // Polls and yields; ranks may outnumber processors.
  Status AllGather(const void* mine, size_t bytes, void* all) override;

 private:
  const MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 0;
};

// Converts the error of the MPI call named `call`; OK for MPI_SUCCESS.
Status MpiStatus(int error, const char* call);

// Polls until `request` is complete, and yields the processor in between.
Status MpiPoll(MPI_Request* request, const char* call);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_MPI_BOOTSTRAP_H_
