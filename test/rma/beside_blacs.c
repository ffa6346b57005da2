/* An MPI program that has a grid of the BLACS and a window at once. Both libraries are preloaded,
   in either order, and have one engine. The argument says what is made first: grid or window. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                   \
    }                                                                 \
  } while (0)

static int rank, size, context;
static MPI_Win win;
static double memory;

static void* function(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  CHECK(found != NULL);
  return found;
}

static void open_grid(void) {
  void (*const grid)(int*, const char*, int, int) =
      (void (*)(int*, const char*, int, int))function("Cblacs_gridinit");
  int all = 0;
  ((void (*)(int, int, int*))function("Cblacs_get"))(0, 0, &all);
  context = all;
  grid(&context, "Row", 1, size);
}

static void sum(void) {
  void (*const call)(int, const char*, const char*, int, int, double*, int, int, int) = (void (*)(
      int, const char*, const char*, int, int, double*, int, int, int))function("Cdgsum2d");
  double value = rank + 1;
  call(context, "All", " ", 1, 1, &value, 1, -1, -1);
  CHECK(value == size * (size + 1) / 2);
}

static void put(void) {
  const double value = rank;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  CHECK(memory == (rank + size - 1) % size);
}

static void open_window(void) {
  MPI_Win_create(&memory, sizeof(memory), sizeof(memory), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

/* One per engine over TCP, where the system has io_uring. */
static int rings(void) {
  DIR* const files = opendir("/proc/self/fd");
  int count = 0;
  for (const struct dirent* file; (file = readdir(files)) != NULL;) {
    char target[300] = "";
    (void)!readlinkat(dirfd(files), file->d_name, target, sizeof(target) - 1);
    count += strstr(target, "io_uring") != NULL;
  }
  closedir(files);
  return count;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int grid_first = strcmp(argv[1], "grid") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (grid_first) open_grid(), sum();
  if (!grid_first) open_window(), put();
  if (grid_first) open_window(), put();
  if (!grid_first) open_grid(), sum();
  put();
  sum();
  CHECK(rings() <= 1);
  void (*const end)(int) = (void (*)(int))function("Cblacs_gridexit");
  if (grid_first) {
    end(context);
    put();
    MPI_Win_free(&win);
  } else {
    MPI_Win_free(&win);
    sum();
    end(context);
  }
  puts("fine");
  MPI_Finalize();
  return 0;
}
