/* An MPI program that knows nothing of us: what is refused, and what is null. Argument: the case.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/rma/check.h"

static char* program;
static int size, right;

/* Whether a shared part of 0 bytes is at NULL. */
static int empty_is_null(int scattered) {
#ifdef OPEN_MPI
  return scattered;
#else
  (void)scattered;
  return 1;
#endif
}

/* Parts of a shared window: those of odd ranks are empty, then all. */
static void empty_parts(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  for (int scattered = 0; scattered < 2; ++scattered) {
    for (int most = 64; most >= 0; most -= 64) {
      char *mine, *theirs;
      MPI_Aint bytes;
      MPI_Win win;
      int unit;
      MPI_Win_allocate_shared(rank % 2 ? 0 : most, 1, scattered ? info : MPI_INFO_NULL,
                              MPI_COMM_WORLD, &mine, &win);
      for (int r = 0; r < size; ++r) {
        const int is_empty = r % 2 || most == 0;
        MPI_Win_shared_query(win, r, &bytes, &unit, &theirs);
        CHECK(is_empty ? bytes == 0 : bytes >= most && theirs != NULL);
        CHECK(!is_empty || (theirs == NULL) == empty_is_null(scattered));
        if (r != rank) continue;
        char* base;
        int found;
        MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
        CHECK(mine == theirs && base == mine);
      }
      MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs);
      CHECK((theirs == NULL) == (most == 0));
      MPI_Win_free(&win);
    }
  }
  MPI_Info_free(&info);
}

/* Swaps and fetches of what MPI does not let be swapped or fetched. */
static void refused_types(void) {
  char memory[64] = {0}, values[64] = {1}, zeros[64] = {0}, result[64];
  MPI_Datatype bytes, number, twin, digits;
  MPI_Win win;
  MPI_Type_contiguous(4, MPI_BYTE, &bytes);
  MPI_Type_contiguous(1, MPI_INT, &number);
  MPI_Type_dup(MPI_INT, &twin);
  MPI_Type_create_f90_integer(9, &digits); /* which counts as predefined */
  MPI_Type_commit(&bytes);
  MPI_Type_commit(&number);
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  const MPI_Datatype derived[] = {bytes, number, twin};
  for (int i = 0; i < 3; ++i) {
    CHECK(class_of(MPI_Compare_and_swap(values, zeros, result, derived[i], right, 0, win)) ==
          MPI_ERR_TYPE);
    CHECK(class_of(MPI_Fetch_and_op(values, result, derived[i], right, 0, MPI_SUM, win)) ==
          MPI_ERR_TYPE);
    CHECK(class_of(MPI_Fetch_and_op(values, result, derived[i], right, 0, MPI_REPLACE, win)) ==
          MPI_ERR_TYPE);
  }
  const MPI_Datatype no_integers[] = {
      MPI_FLOAT,     MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_WCHAR,  MPI_C_FLOAT_COMPLEX, MPI_2INT,
      MPI_SHORT_INT, MPI_PACKED, MPI_REAL,        MPI_REAL16, MPI_DATATYPE_NULL};
  for (size_t i = 0; i < sizeof(no_integers) / sizeof(no_integers[0]); ++i) {
    CHECK(class_of(MPI_Compare_and_swap(values, zeros, result, no_integers[i], right, 0, win)) ==
          MPI_ERR_TYPE);
  }
  MPI_Win_fence(0, win);
  for (size_t i = 0; i < sizeof(memory); ++i) CHECK(memory[i] == 0);
  const MPI_Datatype swapped[] = {MPI_BYTE,    MPI_CHAR,     MPI_SIGNED_CHAR, MPI_SHORT,
                                  MPI_INT,     MPI_LONG,     MPI_UINT64_T,    MPI_C_BOOL,
                                  MPI_AINT,    MPI_OFFSET,   MPI_COUNT,       MPI_LOGICAL,
                                  MPI_INTEGER, MPI_INTEGER8, digits};
  for (size_t i = 0; i < sizeof(swapped) / sizeof(swapped[0]); ++i) {
    MPI_Win_fence(0, win);
    memset(memory, 0, sizeof(memory));
    MPI_Win_fence(0, win);
    CHECK(MPI_Compare_and_swap(values, zeros, result, swapped[i], right, 0, win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == 1 && result[0] == 0);
  }
  MPI_Type_free(&bytes);
  MPI_Type_free(&number);
  MPI_Type_free(&twin);
  MPI_Win_free(&win);
}

/* MPI adds these, we do not. */
static void not_carried(void) {
  char memory[32] = {0}, values[32] = {0};
  MPI_Datatype pair;
  MPI_Win win;
  MPI_Type_contiguous(2, MPI_REAL16, &pair);
  MPI_Type_commit(&pair);
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Accumulate(values, 1, pair, right, 0, 1, pair, MPI_SUM, win)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Accumulate(values, 8, MPI_INT, right, 0, 1, pair, MPI_SUM, win)) ==
        MPI_ERR_TYPE);
  CHECK(class_of(MPI_Accumulate(values, 1, MPI_REAL, right, 0, 1, MPI_REAL, MPI_BOR, win)) ==
        MPI_ERR_OP);
  MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
  MPI_Accumulate(values, 2, MPI_REAL16, right, 0, 2, MPI_REAL16, MPI_SUM, win);
  MPI_Win_fence(0, win);
}

/* A window with a process that these have started, and that has their preload and no other variable
   of theirs. */
static void spawned(void) {
  char preload[4096];
  char* arguments[] = {preload, program, "spawned", NULL};
  MPI_Comm other, all;
  MPI_Win win;
  int* mine;
  MPI_Comm_get_parent(&other);
  const int is_child = other != MPI_COMM_NULL;
  if (!is_child) {
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    MPI_Comm_spawn("env", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(other, is_child, &all);
  MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, all, &mine, &win);
  MPI_Win_free(&win);
  MPI_Comm_free(&all);
  MPI_Comm_free(&other);
}

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {{"empty_parts", empty_parts},
              {"refused_types", refused_types},
              {"not_carried", not_carried},
              {"spawned", spawned}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(argc == 2);
  program = argv[0];
  right = (rank + 1) % size;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(argv[1], kCases[i].name) != 0) continue;
    kCases[i].run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
