/* CHECK for programs of one-sided calls, and the class of an error. */

#ifndef BRIGADE_TEST_RMA_CHECK_H_
#define BRIGADE_TEST_RMA_CHECK_H_

#include <mpi.h>
#include <stdio.h>

/* In MPI_COMM_WORLD; the program sets it. */
static int rank;

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                  \
    }                                                                                \
  } while (0)

static inline int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

#endif /* BRIGADE_TEST_RMA_CHECK_H_ */
