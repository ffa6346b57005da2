// ReturnedErrors: while one exists, calls of MPI on a communicator return their errors, whatever
// its error handler does. A communicator that is made of it meanwhile goes on returning them.

#ifndef BRIGADE_TRANSPORT_MPI_RETURNED_ERRORS_H_
#define BRIGADE_TRANSPORT_MPI_RETURNED_ERRORS_H_

#include <mpi.h>

namespace brigade {

class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_get_errhandler(comm, &handler_);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~ReturnedErrors() {
    MPI_Comm_set_errhandler(comm_, handler_);
    MPI_Errhandler_free(&handler_);
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  const MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_RETURNED_ERRORS_H_
