/* For programs of C whose processes are killed (li/death_test.sh): a process that detects the loss
   ends alone. With MPI's own MPI_Abort mpirun ends those that have not detected it yet, whatever
   its options. */

#ifndef TEST_SUPPORT_END_ALONE_H_
#define TEST_SUPPORT_END_ALONE_H_

#include <mpi.h>
#include <signal.h>

/* Replaces MPI's function in the libraries that the program loads, too. */
int MPI_Abort(MPI_Comm comm, int code) {
  (void)comm;
  (void)code;
  return raise(SIGKILL);
}

#endif /* TEST_SUPPORT_END_ALONE_H_ */
