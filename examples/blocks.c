/* Gather, all-to-all with blocks of different sizes, and scan.

   mpicc examples/blocks.c -o blocks \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./blocks

   -> rank 0 has gathered 0 0 1 1 2 2 3 3
   -> rank 3 has received 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3
   -> rank 3 has the sum 10 of ranks 0 to 3 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "brigade/brigade.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void print(int rank, const char* what, const double* values, int count) {
  printf("rank %d has %s", rank, what);
  for (int i = 0; i < count; ++i) printf(" %g", values[i]);
  printf("\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  brigade_engine* engine;
  brigade_group* group;
  int rank, ranks;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, &group));

  /* Two elements of each rank: a column of the root's matrix. */
  double two[2] = {rank, rank};
  double* gathered = malloc(sizeof(double) * 2 * ranks);
  const brigade_matrix own = {.data = two, .rows = 2, .cols = 1};
  const brigade_matrix all = {.data = gathered, .rows = 2, .cols = ranks};
  check(brigade_gather(group, &own, &all, BRIGADE_DOUBLE, 0, NULL));
  if (rank == 0) print(rank, "gathered", gathered, 2 * ranks);

  /* Every rank sends q + 1 elements to rank q, and receives rank + 1 from each. */
  const int sent_count = ranks * (ranks + 1) / 2, received_count = ranks * (rank + 1);
  double* from = malloc(sizeof(double) * sent_count);
  double* to = malloc(sizeof(double) * received_count);
  brigade_matrix* sent = calloc(ranks, sizeof(brigade_matrix));
  brigade_matrix* received = calloc(ranks, sizeof(brigade_matrix));
  for (int i = 0; i < sent_count; ++i) from[i] = rank;
  for (int q = 0, at = 0; q < ranks; at += ++q) {
    sent[q] = (brigade_matrix){.data = from + at, .rows = q + 1, .cols = 1};
    received[q] = (brigade_matrix){.data = to + q * (rank + 1), .rows = rank + 1, .cols = 1};
  }
  check(brigade_alltoallv(group, sent, received, sizeof(brigade_matrix), BRIGADE_DOUBLE, NULL));
  if (rank == ranks - 1) print(rank, "received", to, received_count);

  int64_t number = rank + 1, sum = 0;
  const brigade_matrix mine = {.data = &number, .rows = 1, .cols = 1};
  const brigade_matrix prefix = {.data = &sum, .rows = 1, .cols = 1};
  check(brigade_scan(group, &mine, &prefix, BRIGADE_INT64, BRIGADE_SUM, NULL));
  if (rank == ranks - 1) {
    printf("rank %d has the sum %lld of ranks 0 to %d\n", rank, (long long)sum, rank);
  }

  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  free(received);
  free(sent);
  free(to);
  free(from);
  free(gathered);
  MPI_Finalize();
  return 0;
}
