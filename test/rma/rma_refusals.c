/* An MPI program that knows nothing of us: what is refused, and what is null. Argument: the case.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                  \
    }                                                                                \
  } while (0)

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

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {{"empty_parts", empty_parts}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(argc == 2);
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    if (strcmp(argv[1], kCases[i].name) != 0) continue;
    kCases[i].run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no case %s\n", argv[1]);
  return 2;
}
