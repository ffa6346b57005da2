/* A test of each call in a table of calls that wait: rank 0 has posted a receive, and waits in the
   call. Rank 1 is in the MPI_Send for it, by rendezvous, and makes its side of the call afterwards.
   Rank 0 therefore continues only if the call progresses MPI's messages. Include it in one file of
   a program. */

#ifndef BRIGADE_TEST_SUPPORT_WAIT_IN_CALL_H_
#define BRIGADE_TEST_SUPPORT_WAIT_IN_CALL_H_

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kSentBytes = 8 << 20, kSentTag = 1, kEarlyTag = 2 };

static volatile int is_in_call;
static pthread_t caller;

/* Waits poll MPI by it, and no thread may do that except the one that makes the call. */
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (is_in_call && !pthread_equal(caller, pthread_self())) {
    fprintf(stderr, "MPI is polled on a thread that makes no call\n");
    _Exit(4);
  }
  return PMPI_Test(request, flag, status);
}

/* `call`: both ranks' sides. `prepare` runs before; it may be null. */
static void wait_in_call(const char* name, int rank, void (*prepare)(void), void (*call)(void)) {
  static unsigned char sent[kSentBytes];
  static unsigned char value;
  MPI_Request request;
  caller = pthread_self();
  is_in_call = 1;
  if (prepare != NULL) prepare();
  ++value;
  if (rank == 0) {
    printf("%s\n", name);
    fflush(stdout);
    MPI_Irecv(sent, kSentBytes, MPI_BYTE, 1, kSentTag, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    call();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, kEarlyTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (sent[0] != value || sent[kSentBytes - 1] != value) {
      fprintf(stderr, "%s: the message is wrong\n", name);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  } else {
    const struct timespec moment = {0, 3000000}; /* so that rank 0 waits */
    sent[0] = sent[kSentBytes - 1] = value;
    /* One that rank 0 does not receive yet: where there is one, a probe is answered at once. */
    MPI_Send(NULL, 0, MPI_BYTE, 0, kEarlyTag, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&moment, NULL);
    MPI_Send(sent, kSentBytes, MPI_BYTE, 0, kSentTag, MPI_COMM_WORLD);
    call();
  }
  is_in_call = 0;
}

#endif
