/* multiply.h proved usable from C: every call of it, on the ranks of MPI_COMM_WORLD, four of them.
     multiply_c_test TRANSPORT */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/multiply.h"

enum { kSize = 150, kBlock = 8 };

static int me, size;
static brigade_engine* engine;
static brigade_group* group; /* of the grid */
static brigade_multiplier* multiplier;
static int grid_rows, grid_cols;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s: %s\n", me, what, brigade_error_text());
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void ok(brigade_status status, const char* what) { check(status == BRIGADE_OK, what); }

/* It failed, and the text has `part` in it. */
static void failed(brigade_status status, brigade_status expected, const char* part) {
  check(status == expected, part);
  check(strstr(brigade_error_text(), part) != NULL, part);
}

static double value(int matrix, int64_t row, int64_t col) {
  return (double)((row * 31 + col * 17 + matrix * 7) % 101) / 50 - 1;
}

static int64_t global_of(int64_t local, int procs, int proc) {
  return (local / kBlock * procs + proc) * kBlock + local % kBlock;
}

/* This rank's part of a matrix; in `window`, if it is not NULL. */
static void make(int matrix, int64_t rows, int64_t cols, brigade_distributed_matrix* made,
                 brigade_window** window) {
  const int row = me / grid_cols, col = me % grid_cols;
  const int64_t own_rows = brigade_local_count(rows, kBlock, 0, grid_rows, row);
  const int64_t own_cols = brigade_local_count(cols, kBlock, 0, grid_cols, col);
  double* data;
  int64_t i, j;
  memset(made, 0, sizeof(*made));
  made->rows = rows;
  made->cols = cols;
  made->row_block = made->col_block = kBlock;
  made->ld = own_rows > 0 ? own_rows : 1;
  if (window != NULL) {
    ok(brigade_window_allocate(group, (size_t)(made->ld * own_cols) * sizeof(double), 1,
                               &made->data, window),
       "a window");
    made->window = *window;
  } else {
    made->data = malloc((size_t)(made->ld * own_cols + 1) * sizeof(double));
  }
  data = made->data;
  for (j = 0; j < own_cols; ++j) {
    for (i = 0; i < own_rows; ++i) {
      data[i + j * made->ld] =
          value(matrix, global_of(i, grid_rows, row), global_of(j, grid_cols, col));
    }
  }
}

static void make_grid(int rows, int cols) {
  grid_rows = rows;
  grid_cols = cols;
  ok(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), rows, cols, &group), "a grid");
}

/* C = 2 A B^T - C, of which a submatrix is computed. */
static void multiply(int rows, int cols, int in_windows) {
  const double alpha = 2, beta = -1;
  const int64_t m = 120, n = 90, k = 130;
  brigade_window* windows[3] = {NULL, NULL, NULL};
  brigade_product product = brigade_product_init();
  brigade_multiply_options options = brigade_multiply_options_init();
  brigade_multiply_statistics statistics = brigade_multiply_statistics_init();
  double *c, *first, *original;
  int64_t count, i, j, l;
  int order, depth, in_place;
  make_grid(rows, cols);
  ok(brigade_multiplier_create(group, 16384, &multiplier), "a multiplier");
  product.type = BRIGADE_DOUBLE;
  product.op_b = BRIGADE_TRANSPOSED;
  product.m = m;
  product.n = n;
  product.k = k;
  product.alpha = &alpha;
  product.beta = &beta;
  make(0, kSize, kSize, &product.a, in_windows ? &windows[0] : NULL);
  make(1, kSize, kSize, &product.b, in_windows ? &windows[1] : NULL);
  make(2, kSize, kSize, &product.c, in_windows ? &windows[2] : NULL);
  product.a.row = 3;
  product.b.col = 20;
  product.c.row = 8;
  product.c.col = 11;

  c = product.c.data;
  count = product.c.ld * brigade_local_count(kSize, kBlock, 0, cols, me % cols);
  original = malloc((size_t)(count + 1) * sizeof(double));
  first = malloc((size_t)(count + 1) * sizeof(double));
  memcpy(original, c, (size_t)count * sizeof(double));
  ok(brigade_multiply(multiplier, &product, NULL, NULL), "a product");
  memcpy(first, c, (size_t)count * sizeof(double));
  for (j = 0; j * product.c.ld < count; ++j) {
    for (i = 0; i < product.c.ld; ++i) {
      const int64_t row = global_of(i, rows, me / cols), col = global_of(j, cols, me % cols);
      double expected = value(2, row, col);
      if (row >= 8 && row < 8 + m && col >= 11 && col < 11 + n) {
        expected = -expected;
        for (l = 0; l < k; ++l) {
          expected += 2 * value(0, row - 8 + 3, l) * value(1, col - 11, l + 20);
        }
      }
      check(fabs(first[i + j * product.c.ld] - expected) < 1e-10, "what it should be");
    }
  }
  for (order = 0; order < 2; ++order) {
    for (depth = -1; depth < 4; depth += 2) {
      for (in_place = BRIGADE_DEFAULT; in_place <= BRIGADE_OFF; ++in_place) {
        options.order = (brigade_multiply_order)order;
        options.depth = depth;
        options.in_place = (brigade_switch)in_place;
        memcpy(c, original, (size_t)count * sizeof(double));
        MPI_Barrier(MPI_COMM_WORLD);
        ok(brigade_multiply(multiplier, &product, &options, &statistics), "the same product");
        check(memcmp(c, first, (size_t)count * sizeof(double)) == 0, "the same bits");
        check(statistics.products > 0, "something is multiplied");
        check(statistics.gets == 0 || statistics.bytes_got > 0, "gets bring bytes");
      }
    }
  }
  ok(brigade_multiplier_free(multiplier), "free");
  brigade_group_destroy(group);
  for (i = 0; i < 3; ++i) ok(brigade_window_free(windows[i]), "free a window");
  if (!in_windows) {
    free(product.a.data);
    free(product.b.data);
    free(product.c.data);
  }
  free(first);
  free(original);
}

/* On one rank; all get the error, and the next call works. */
static void mistakes(void) {
  const double one = 1;
  brigade_product product = brigade_product_init(), wrong;
  brigade_multiply_options options = brigade_multiply_options_init();
  brigade_multiply_statistics nothing = {0};
  const int is_wrong = me == 2;
  make_grid(2, 2);
  failed(brigade_multiplier_create(group, 5, &multiplier), BRIGADE_INVALID_ARGUMENT,
         "buffer_bytes is 5");
  failed(brigade_multiplier_create(NULL, 0, &multiplier), BRIGADE_INVALID_ARGUMENT,
         "group is a null pointer");
  ok(brigade_multiplier_create(group, 0, &multiplier), "a multiplier");
  failed(brigade_multiply(NULL, NULL, NULL, NULL), BRIGADE_INVALID_ARGUMENT,
         "multiplier is a null pointer");
  product.type = BRIGADE_DOUBLE;
  product.m = product.n = product.k = 20;
  product.alpha = product.beta = &one;
  make(0, 20, 20, &product.a, NULL);
  make(1, 20, 20, &product.b, NULL);
  make(2, 20, 20, &product.c, NULL);
  failed(brigade_multiply(multiplier, is_wrong ? NULL : &product, NULL, NULL),
         BRIGADE_INVALID_ARGUMENT, "a product on rank 2: product is a null pointer");
  wrong = product;
  if (is_wrong) wrong.op_a = (brigade_transpose)256;
  failed(brigade_multiply(multiplier, &wrong, NULL, NULL), BRIGADE_INVALID_ARGUMENT,
         "rank 2: op_a has no value 256");
  wrong = product;
  if (is_wrong) wrong.type = (brigade_type)1000;
  failed(brigade_multiply(multiplier, &wrong, NULL, NULL), BRIGADE_INVALID_ARGUMENT,
         "rank 2: type has no value 1000");
  if (is_wrong) options.order = (brigade_multiply_order)2;
  failed(brigade_multiply(multiplier, &product, &options, NULL), BRIGADE_INVALID_ARGUMENT,
         "rank 2: order has no value 2");
  wrong = product;
  if (is_wrong) wrong.size = 0;
  failed(brigade_multiply(multiplier, &wrong, NULL, NULL), BRIGADE_INVALID_ARGUMENT,
         "rank 2: brigade_product has a size of 0: initialise it with brigade_product_init()");
  wrong = product;
  if (is_wrong) wrong.b.ld = 1;
  failed(brigade_multiply(multiplier, &wrong, NULL, NULL), BRIGADE_INVALID_ARGUMENT,
         "rank 2: b: ld is 1");
  wrong = product;
  if (is_wrong) wrong.k = 19;
  failed(brigade_multiply(multiplier, &wrong, NULL, NULL), BRIGADE_MISMATCH,
         "differ in k: rank 0 has 20, rank 2 has 19");
  failed(brigade_multiply(multiplier, &product, NULL, &nothing), BRIGADE_INVALID_ARGUMENT,
         "brigade_multiply_statistics has a size of 0");
  ok(brigade_multiply(multiplier, &product, NULL, NULL), "a product");
  /* A rank that destroys the multiplier ends the calls of the others, but not the product before.
   */
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_wrong) {
    brigade_multiplier_destroy(multiplier);
    brigade_multiplier_destroy(NULL);
  } else {
    failed(brigade_multiply(multiplier, &product, NULL, NULL), BRIGADE_ABORTED, "rank 2");
    brigade_multiplier_destroy(multiplier);
  }
  ok(brigade_multiplier_free(NULL), "free nothing");
  check(brigade_local_count(10, 3, 1, 2, 1) == 6 && brigade_local_count(10, 3, 1, 2, 0) == 4 &&
            brigade_local_count(10, 0, 0, 1, 0) == -1,
        "how indices are distributed");
  brigade_group_destroy(group);
  free(product.a.data);
  free(product.b.data);
  free(product.c.data);
}

/* Nothing is computed without it. */
static void without_blas(void) {
  const double one = 1;
  brigade_product product = brigade_product_init();
  make_grid(2, 2);
  ok(brigade_multiplier_create(group, 0, &multiplier), "a multiplier");
  product.type = BRIGADE_COMPLEX_DOUBLE;
  product.alpha = product.beta = &one;
  product.a.row_block = product.a.col_block = product.a.ld = 1;
  product.b = product.c = product.a;
  failed(brigade_multiply(multiplier, &product, NULL, NULL), BRIGADE_UNAVAILABLE,
         "no zgemm_ in this process: link or preload a BLAS");
  ok(brigade_multiplier_free(multiplier), "free");
  brigade_group_destroy(group);
}

int main(int argc, char** argv) {
  brigade_options options;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(argc == 2 && size == 4, "multiply_c_test TRANSPORT, on 4 ranks");
  options = brigade_options_init();
  options.transport = argv[1];
  ok(brigade_engine_create(&options, &engine), "an engine");
  without_blas();
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  check(dlopen("libblas.so.3", RTLD_NOW | RTLD_GLOBAL) != NULL, "a BLAS");
  multiply(2, 2, 0);
  multiply(2, 2, 1);
  multiply(1, 4, 0);
  multiply(4, 1, 1);
  mistakes();
  MPI_Barrier(MPI_COMM_WORLD);
  brigade_engine_destroy(engine);
  MPI_Finalize();
  return 0;
}
