/* A program that knows nothing of us and uses windows, a grid of the BLACS and products while MPI
   ends, or afterwards. Linked with ScaLAPACK, it does the same without our libraries, but for what
   `late` expects. Arguments: the case, how MPI is initialised, what is used (letters: w for
   windows, g for a grid, p for products), and libraries that are opened behind that, for this
   program alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int not_done);
void Cdgsum2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda,
              int row, int col);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, double* a, const int* ia, const int* ja, const int* desca,
             double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: rank %d: CHECK failed: %s\n", __FILE__, __LINE__, rank, #condition); \
      _exit(3);                                                                                    \
    }                                                                                              \
  } while (0)

enum { kBlock = 40, kLibraries = 4 };

static int rank, size, context = -1, keyval_of_window;
static const char *name_of_case, *uses;
static void* opened[kLibraries];
static int *cells[2], own_cells[3];
static MPI_Win win[2] = {MPI_WIN_NULL, MPI_WIN_NULL};

/* Of a library that was opened, or what all see. */
static void* find(const char* name) {
  void* found = NULL;
  for (int i = 0; i < kLibraries && found == NULL && opened[i] != NULL; ++i) {
    found = dlsym(opened[i], name);
  }
  if (found == NULL) found = dlsym(RTLD_DEFAULT, name);
  CHECK(found != NULL);
  return found;
}
#define CALL(name) ((__typeof__(&(name)))find(#name))

static int has(char use) { return strchr(uses, use) != NULL; }

static int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

/* --- windows --- */

static void make_windows(void) {
  CALL(MPI_Win_allocate)
  (3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells[0], &win[0]);
  cells[1] = own_cells;
  CALL(MPI_Win_create)
  (own_cells, 3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win[1]);
  cells[0][2] = cells[1][2] = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval_of_window, NULL);
  for (int i = 0; i < 2; ++i) MPI_Win_set_attr(win[i], keyval_of_window, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void use_windows(int value) {
  for (int i = 0; i < 2; ++i) {
    const int mine = value + rank, before = cells[i][2];
    int *unit = NULL, is_there = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(MPI_Win_get_attr)(win[i], MPI_WIN_DISP_UNIT, &unit, &is_there);
    CHECK(is_there && *unit == sizeof(int));
    CALL(MPI_Win_lock_all)(0, win[i]);
    CALL(MPI_Rput)(&mine, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win[i], &request);
    CALL(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    CALL(MPI_Accumulate)(&mine, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win[i]);
    CALL(MPI_Win_unlock_all)(win[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cells[i][1] == value + (rank + size - 1) % size);
    CHECK(rank != 0 || cells[i][2] == before + size * value + size * (size - 1) / 2);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void free_windows(void) {
  for (int i = 0; i < 2; ++i) {
    CHECK(CALL(MPI_Win_free)(&win[i]) == MPI_SUCCESS);
    CHECK(win[i] == MPI_WIN_NULL);
  }
}

/* Every call but those on the handle itself, and MPI_Win_free. */
static void fail_with_windows(void) {
  for (int i = 0; i < 2; ++i) {
    int value = 0, is_there = 0, unit;
    int* attribute = NULL;
    void* base;
    MPI_Aint bytes;
    MPI_Request request;
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
#define FAILS(call) CHECK(class_of(call) == MPI_ERR_WIN)
    FAILS(CALL(MPI_Win_lock_all)(0, win[i]));
    FAILS(CALL(MPI_Win_lock)(MPI_LOCK_SHARED, 0, 0, win[i]));
    FAILS(CALL(MPI_Win_flush)(0, win[i]));
    FAILS(CALL(MPI_Win_fence)(0, win[i]));
    FAILS(CALL(MPI_Win_post)(group, 0, win[i]));
    FAILS(CALL(MPI_Win_attach)(win[i], own_cells, 4));
    FAILS(CALL(MPI_Win_test)(win[i], &is_there));
    FAILS(CALL(MPI_Win_shared_query)(win[i], 0, &bytes, &unit, &base));
    FAILS(CALL(MPI_Put)(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win[i]));
    FAILS(CALL(MPI_Get)(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win[i]));
    FAILS(CALL(MPI_Rput)(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win[i], &request));
    MPI_Group_free(&group);
    /* The contents of the memory stay. */
    CALL(MPI_Win_get_attr)(win[i], MPI_WIN_BASE, &base, &is_there);
    CHECK(is_there && base == cells[i] && cells[i][1] == 1000 + (rank + size - 1) % size);
    CALL(MPI_Win_get_attr)(win[i], keyval_of_window, &attribute, &is_there);
    CHECK(is_there && attribute == &rank);
  }
}

/* --- a grid --- */

static void make_grid(void) {
  CALL(Cblacs_get)(0, 0, &context);
  CALL(Cblacs_gridinit)(&context, "Row", 1, size);
}

static int rows_of_grid(void) {
  int rows, cols, row, col;
  CALL(Cblacs_gridinfo)(context, &rows, &cols, &row, &col);
  CHECK(rows == -1 || (rows == 1 && cols == size && row == 0 && col == rank));
  return rows;
}

static void use_grid(void) {
  double sum = rank + 1;
  CHECK(rows_of_grid() == 1);
  CALL(Cdgsum2d)(context, "All", " ", 1, 1, &sum, 1, -1, -1);
  CHECK(sum == size * (size + 1) / 2);
}

/* By the identity. */
static void use_product(void) {
  const int n = kBlock * size, one = 1, mine = n * kBlock;
  const int descriptor[] = {1, context, n, n, kBlock, kBlock, 0, 0, n};
  const double factor = 1, zero = 0;
  double* const a = malloc(3 * mine * sizeof(double));
  double *const b = a + mine, *const c = b + mine;
  for (int i = 0; i < mine; ++i) {
    a[i] = rank + i;
    b[i] = i % n == rank * kBlock + i / n;
    c[i] = -1;
  }
  CALL(pdgemm_)
  ("N", "N", &n, &n, &n, &factor, a, &one, &one, descriptor, b, &one, &one, descriptor, &zero, c,
   &one, &one, descriptor);
  CHECK(memcmp(a, c, mine * sizeof(double)) == 0);
  free(a);
}

static void make_all(void) {
  if (has('g') || has('p')) make_grid();
  if (has('w')) make_windows();
}

static void use_all(int value) {
  if (has('p')) use_product();
  if (has('w')) use_windows(value);
  if (has('g')) use_grid();
}

/* One call of each, which may end the job. */
static void call_once(void) {
  double sum = 1;
  if (has('w')) CALL(MPI_Win_lock_all)(0, win[0]);
  if (has('g')) CALL(Cdgsum2d)(context, "All", " ", 1, 1, &sum, 1, -1, -1);
  if (has('p')) use_product();
}

static void end_all(void) {
  if (has('w')) free_windows();
  if (has('g')) CALL(Cblacs_gridexit)(context);
}

/* --- cases --- */

static int is(const char* name) { return strcmp(name_of_case, name) == 0; }

static int at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  int is_finalized = 1;
  MPI_Finalized(&is_finalized);
  CHECK(!is_finalized);
  if (is("late")) {
    if (has('w')) {
      fail_with_windows();
      free_windows();
      make_windows(); /* the MPI's */
      use_windows(2000);
      free_windows();
    }
    if (has('g')) CHECK(rows_of_grid() == -1);
    if (has('g')) CALL(Cblacs_exit)(0);
    if (has('p')) use_product();
  } else if (is("late_call")) {
    call_once();
  } else {
    use_all(2000);
    if (is("callback")) end_all();
  }
  if (rank == 0) puts("the callback has passed"), fflush(stdout);
  return MPI_SUCCESS;
}

static void set_callback(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Comm_free_keyval(&keyval);
}

/* Of the MPI itself, where `init` is past. */
static void initialise(const char* init) {
  const char* const levels[] = {"single", "funneled", "serialized", "multiple"};
  const int numbers[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                         MPI_THREAD_MULTIPLE};
  int provided = -1;
  for (int i = 0; i < 4; ++i) {
    if (strcmp(init, levels[i]) == 0) {
      CHECK(MPI_Init_thread(NULL, NULL, numbers[i], &provided) == MPI_SUCCESS);
      CHECK(provided >= numbers[i]);
    }
  }
  if (strcmp(init, "past") == 0) {
    Dl_info file;
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Barrier"), &file);
    void* const mpi = dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    CHECK(((__typeof__(&MPI_Init))dlsym(mpi, "MPI_Init"))(NULL, NULL) == MPI_SUCCESS);
  } else if (provided == -1) {
    CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void at_exit(void) {
  if (is("exit_first")) make_all();
  use_all(3000);
  if (!is("exit")) MPI_Finalize();
  printf("rank %d has left\n", rank);
  fflush(stdout);
}

int main(int argc, char** argv) {
  CHECK(argc >= 4 && argc <= 4 + kLibraries);
  name_of_case = argv[1];
  uses = argv[3];
  const int exits = is("exit") || is("exit_finalize") || is("exit_first");
  /* Called behind what libraries have registered later. */
  if (exits) atexit(at_exit);
  initialise(argv[2]);
  for (int i = 4; i < argc; ++i) opened[i - 4] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
  for (int i = 4; i < argc; ++i) CHECK(opened[i - 4] != NULL);
  if (is("exit_first")) exit(0);
  if (!exits) set_callback();
  make_all();
  use_all(1000);
  if (is("late")) {
    for (int i = 0; i < 2 && has('w'); ++i) MPI_Win_set_errhandler(win[i], MPI_ERRORS_RETURN);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (exits) exit(0);
  if (is("_exit")) _exit(0);
  if (is("abort")) abort();
  MPI_Finalize();
  if (is("after")) call_once();
  return 0;
}
