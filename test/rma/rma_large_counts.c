/* One-sided calls with counts of 64 bits, of MPI 4, and datatypes made with such. */
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

/* Puts along a datatype and checks the result. */
static void put_along(MPI_Datatype type, const char* what, MPI_Win win, int* memory, int count) {
  const int right = (rank + 1) % size;
  int values[64], bytes;
  char line[600];
  MPI_Type_commit(&type);
  MPI_Type_size(type, &bytes);
  for (int i = 0; i < 64; ++i) values[i] = 100 * rank + i;
  for (int i = 0; i < count; ++i) memory[i] = -1;
  MPI_Win_fence(0, win);
  MPI_Put_c(values, bytes / (int)sizeof(int), MPI_INT, right, 0, 1, type, win);
  MPI_Win_fence(0, win);
  int length = snprintf(line, sizeof(line), "%s on %d:", what, rank);
  for (int i = 0; i < count; ++i) {
    length += snprintf(line + length, sizeof(line) - length, " %d", memory[i]);
  }
  puts(line);
  MPI_Type_free(&type);
}

static void datatypes(void) {
  enum { kCount = 48 };
  const MPI_Count two[] = {1, 3}, places[] = {9, 2}, bytes[] = {64, 12};
  const MPI_Count sizes[] = {6, 8}, parts[] = {2, 3}, starts[] = {1, 4};
  const MPI_Datatype ints[] = {MPI_INT, MPI_INT};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int usual[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 2};
  int* memory;
  MPI_Win win;
  MPI_Win_allocate_c(kCount * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Datatype made, vector;
#define PUT_ALONG(what, ...)               \
  MPI_Type_##what##_c(__VA_ARGS__, &made); \
  put_along(made, #what, win, memory, kCount)
  PUT_ALONG(contiguous, 5, MPI_INT);
  PUT_ALONG(vector, 3, 2, 4, MPI_INT);
  PUT_ALONG(create_hvector, 3, 2, 20, MPI_INT);
  PUT_ALONG(indexed, 2, two, places, MPI_INT);
  PUT_ALONG(create_hindexed, 2, two, bytes, MPI_INT);
  PUT_ALONG(create_indexed_block, 2, 3, places, MPI_INT);
  PUT_ALONG(create_hindexed_block, 2, 3, bytes, MPI_INT);
  PUT_ALONG(create_struct, 2, two, bytes, ints);
  PUT_ALONG(create_subarray, 2, sizes, parts, starts, MPI_ORDER_C, MPI_INT);
  PUT_ALONG(create_darray, 4, 3, 2, sizes, distributions, usual, grid, MPI_ORDER_FORTRAN, MPI_INT);
  MPI_Type_vector_c(2, 1, 3, MPI_INT, &vector);
  PUT_ALONG(create_resized, vector, 0, 28);
  MPI_Type_create_resized_c(vector, 0, 28, &made);
  MPI_Type_free(&vector);
  vector = made;
  PUT_ALONG(contiguous, 3, vector);
  MPI_Type_free(&vector);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  double private_memory[6] = {0, 0, 0, 0, 0, 0};
  double *memory, *theirs;
  MPI_Aint bytes, unit;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create_c(private_memory, sizeof(private_memory), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
  work_on(win, private_memory);
  MPI_Win_free(&win);
  datatypes();

  MPI_Win_allocate_shared_c(sizeof(private_memory), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
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
