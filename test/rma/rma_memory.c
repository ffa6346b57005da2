/* What MPI_Alloc_mem and windows take of the system. A program that knows nothing of us, of any
   number of ranks; argv: a case. It prints PASS. */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d on rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                    \
    }                                                                                  \
  } while (0)

static int rank, size, right, left;

/* Pages of this process's shared segments that the system has, mapped here or not. */
static long charged_kib(void) {
  long blocks = 0;
  DIR* const folder = opendir("/proc/self/fd");
  for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    struct stat info;
    if (fstatat(dirfd(folder), entry->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode)) continue;
    if (info.st_nlink == 0) blocks += (long)info.st_blocks;
  }
  if (folder != NULL) closedir(folder);
  return blocks / 2;
}

/* A gigabyte of which little is used takes little. */
static void untouched(void) {
  enum { kMib = 1 << 20, kBlocks = 64 };
  char* blocks[kBlocks];
  char *allocated, *shared;
  MPI_Win window, in_one_piece;
  const long before = charged_kib();
  for (int i = 0; i < kBlocks; ++i) {
    CHECK(MPI_Alloc_mem(16 * kMib, MPI_INFO_NULL, &blocks[i]) == MPI_SUCCESS);
    blocks[i][5 * kMib] = 1;
  }
  CHECK(charged_kib() - before < 256 * 1024);
  MPI_Win_allocate(256 * kMib, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &window);
  MPI_Win_allocate_shared(128 * kMib, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &in_one_piece);
  CHECK(charged_kib() - before < 256 * 1024);
  /* All of it is there, for its owner and for others. */
  MPI_Win_fence(0, window);
  const char value = (char)(rank + 1);
  char got = 0;
  MPI_Put(&value, 1, MPI_BYTE, right, 256 * kMib - 1, 1, MPI_BYTE, window);
  MPI_Get(&got, 1, MPI_BYTE, left, 100 * kMib, 1, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  CHECK(allocated[256 * kMib - 1] == left + 1);
  CHECK(got == allocated[100 * kMib]); /* zero, or as MPI has it */
  memset(shared + 100 * kMib, rank + 1, 5 * kMib);
  MPI_Win_fence(0, in_one_piece);
  MPI_Win_free(&in_one_piece);
  MPI_Win_free(&window);
  for (int i = 0; i < kBlocks; ++i) CHECK(blocks[i][5 * kMib] == 1);
  for (int i = 0; i < kBlocks; ++i) CHECK(MPI_Free_mem(blocks[i]) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  const char* const name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "untouched") == 0) {
    untouched();
  } else {
    CHECK(!"a case: untouched");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("PASS");
  MPI_Finalize();
  return 0;
}
