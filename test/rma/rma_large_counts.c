/* One-sided calls with counts of 64 bits, of MPI 4, on a window that is shared and on one that is
 * not. */
#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      fprintf(stderr, "rank %d: line %d\n", rank, __LINE__); \
      MPI_Abort(MPI_COMM_WORLD, 3);                          \
    }                                                        \
  } while (0)

static int rank, size;

static void work_on(MPI_Win win, const double* mine) {
  enum { kPut, kRput, kAdded, kRadded, kFetched, kRfetched, kValues };
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  const double value = 1 + rank;
  double got[4] = {0, 0, 0, 0};
  MPI_Request request;
  MPI_Win_lock_all(0, win);
  MPI_Put_c(&value, 1, MPI_DOUBLE, right, kPut, 1, MPI_DOUBLE, win);
  MPI_Rput_c(&value, 1, MPI_DOUBLE, right, kRput, 1, MPI_DOUBLE, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Accumulate_c(&value, 1, MPI_DOUBLE, right, kAdded, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Raccumulate_c(&value, 1, MPI_DOUBLE, right, kRadded, 1, MPI_DOUBLE, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_accumulate_c(&value, 1, MPI_DOUBLE, &got[0], 1, MPI_DOUBLE, right, kFetched, 1,
                       MPI_DOUBLE, MPI_SUM, win);
  MPI_Rget_accumulate_c(&value, 1, MPI_DOUBLE, &got[1], 1, MPI_DOUBLE, right, kRfetched, 1,
                        MPI_DOUBLE, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Get_c(&got[2], 1, MPI_DOUBLE, right, kPut, 1, MPI_DOUBLE, win);
  MPI_Rget_c(&got[3], 1, MPI_DOUBLE, right, kRput, 1, MPI_DOUBLE, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(got[0] == 0 && got[1] == 0 && got[2] == value && got[3] == value);
  for (int i = 0; i < kValues; ++i) CHECK(mine[i] == 1 + left);
  printf("done on %d\n", rank);
}

int main(int argc, char** argv) {
  double private_memory[6] = {0, 0, 0, 0, 0, 0};
  double *memory, *theirs;
  MPI_Aint bytes, unit;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(private_memory, sizeof(private_memory), sizeof(double), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  work_on(win, private_memory);
  MPI_Win_free(&win);

  MPI_Win_allocate_shared(sizeof(private_memory), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &memory, &win);
  for (int i = 0; i < 6; ++i) memory[i] = 0;
  MPI_Win_shared_query_c(win, rank, &bytes, &unit, &theirs);
  CHECK(theirs == memory && bytes == sizeof(private_memory) && unit == sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  work_on(win, memory);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
