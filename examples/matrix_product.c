/* A product of matrices that are distributed in blocks over a grid of ranks. Each rank gets what it
   needs of the others by itself, while it multiplies. The BLAS may be any.

   mpicc examples/matrix_product.c -o matrix_product \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api \
     -Wl,--no-as-needed -lblas
   mpirun -n 4 --oversubscribe ./matrix_product
   mpirun -n 3 --oversubscribe ./matrix_product

   -> rank 0: all 250000 elements are as expected */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "brigade/multiply.h"

enum { kSize = 500, kBlock = 32 };

static int grid[2], row, col; /* this rank's place */

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t own_rows(void) { return brigade_local_count(kSize, kBlock, 0, grid[0], row); }
static int64_t own_cols(void) { return brigade_local_count(kSize, kBlock, 0, grid[1], col); }

/* Which index the `local`-th of a rank is. */
static int64_t global(int64_t local, int procs, int proc) {
  return (local / kBlock * procs + proc) * kBlock + local % kBlock;
}

/* This rank's part of a square matrix, in memory that its host's ranks can read in place. */
static double* make(brigade_group* group, brigade_distributed_matrix* matrix,
                    brigade_window** window) {
  memset(matrix, 0, sizeof(*matrix));
  matrix->rows = matrix->cols = kSize;
  matrix->row_block = matrix->col_block = kBlock;
  matrix->ld = own_rows() > 0 ? own_rows() : 1;
  check(brigade_window_allocate(group, (size_t)(matrix->ld * own_cols()) * sizeof(double), 1,
                                &matrix->data, window));
  matrix->window = *window;
  return matrix->data;
}

int main(int argc, char** argv) {
  const double one = 1, zero = 0;
  int rank, ranks;
  long good = 0, all;
  brigade_engine* engine;
  brigade_group* group;
  brigade_multiplier* multiplier;
  brigade_window* windows[3];
  brigade_product product = brigade_product_init();
  double *a, *b, *c;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, grid);
  row = rank / grid[1];
  col = rank % grid[1];
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), grid[0], grid[1], &group));
  check(brigade_multiplier_create(group, 0, &multiplier));

  product.type = BRIGADE_DOUBLE;
  product.op_b = BRIGADE_TRANSPOSED;
  product.m = product.n = product.k = kSize;
  product.alpha = &one;
  product.beta = &zero;
  a = make(group, &product.a, &windows[0]);
  b = make(group, &product.b, &windows[1]);
  c = make(group, &product.c, &windows[2]);
  for (int64_t j = 0; j < own_cols(); ++j) {
    for (int64_t i = 0; i < own_rows(); ++i) { /* A(i, k) = i, B(j, k) = j + 1 */
      a[i + j * product.a.ld] = (double)global(i, grid[0], row);
      b[i + j * product.b.ld] = (double)global(i, grid[0], row) + 1;
    }
  }
  check(brigade_multiply(multiplier, &product, NULL, NULL)); /* C = A B^T */
  for (int64_t j = 0; j < own_cols(); ++j) {
    for (int64_t i = 0; i < own_rows(); ++i) {
      const double expected =
          (double)kSize * (double)global(i, grid[0], row) * (double)(global(j, grid[1], col) + 1);
      good += c[i + j * product.c.ld] == expected;
    }
  }

  MPI_Reduce(&good, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == (long)kSize * kSize) {
    printf("rank 0: all %ld elements are as expected\n", all);
  }
  check(brigade_multiplier_free(multiplier));
  for (int i = 0; i < 3; ++i) check(brigade_window_free(windows[i]));
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
