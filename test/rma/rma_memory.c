/* The memory that MPI_Alloc_mem and windows take of the system, and windows over short allocations.
   An MPI program that knows nothing of us, for any number of ranks; argv: a case. Prints PASS. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/rma/check.h"

static int size, right, left;

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

typedef struct {
  long value;
  MPI_Aint next;
  int owner;
} Element;

/* A distributed list, each of whose elements is an allocation, as in MPI's own text. */
static void elements(void) {
  enum { kElements = 70000, kAttached = 50, kStride = 131 };
  Element** const all = malloc(kElements * sizeof(Element*));
  const long before = charged_kib();
  for (long i = 0; i < kElements; ++i) {
    CHECK(MPI_Alloc_mem(sizeof(Element), MPI_INFO_NULL, &all[i]) == MPI_SUCCESS);
    CHECK((uintptr_t)all[i] % 16 == 0);
    *all[i] = (Element){i, 0, rank};
  }
  CHECK(charged_kib() - before < 6 * 1024);

  MPI_Win dynamic, one;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  for (long i = 0; i < kAttached; ++i) {
    Element* const element = all[i * kStride];
    CHECK(MPI_Win_attach(dynamic, element, sizeof(Element)) == MPI_SUCCESS);
    if (i > 0) MPI_Get_address(element, &all[(i - 1) * kStride]->next);
  }
  MPI_Aint at;
  MPI_Get_address(all[0], &at);
  MPI_Sendrecv_replace(&at, 1, MPI_AINT, left, 0, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, dynamic);
  for (long i = 0; i < kAttached; ++i) {
    Element got;
    CHECK(at != 0);
    MPI_Get(&got, sizeof(Element), MPI_BYTE, right, at, sizeof(Element), MPI_BYTE, dynamic);
    MPI_Win_flush(right, dynamic);
    CHECK(got.owner == right && got.value == i * kStride);
    at = got.next;
  }
  CHECK(at == 0);
  MPI_Win_unlock_all(dynamic);
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = 0; i < kAttached; ++i)
    CHECK(MPI_Win_detach(dynamic, all[i * kStride]) == MPI_SUCCESS);
  MPI_Win_free(&dynamic);

  /* A window of one of them, in the middle of a page. */
  MPI_Win_create(all[777], sizeof(Element), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &one);
  MPI_Win_fence(0, one);
  const Element mine = {-1 - rank, 5, rank};
  MPI_Put(&mine, sizeof(mine), MPI_BYTE, right, 0, sizeof(mine), MPI_BYTE, one);
  MPI_Win_fence(0, one);
  CHECK(all[777]->value == -1 - left && all[777]->owner == left);
  MPI_Win_fence(0, one);
  const long added = 100;
  MPI_Accumulate(&added, 1, MPI_LONG, right, 0, 1, MPI_LONG, MPI_SUM, one);
  MPI_Win_fence(0, one);
  CHECK(all[777]->value == 99 - left);
  all[777]->value = 777;
  MPI_Win_free(&one);

  /* Freed in another order. Memory that windows took stays charged. */
  const long full = charged_kib();
  for (long i = 0; i < kElements; i += 2) CHECK(MPI_Free_mem(all[i]) == MPI_SUCCESS);
  for (long i = 0; i < kElements; i += 4) {
    CHECK(MPI_Alloc_mem(sizeof(Element), MPI_INFO_NULL, &all[i]) == MPI_SUCCESS);
    *all[i] = (Element){i, 0, rank};
  }
  CHECK(charged_kib() <= full);
  for (long i = kElements - 1; i >= 0; --i) {
    if (i % 4 == 2) continue;
    CHECK(all[i]->value == i);
    CHECK(MPI_Free_mem(all[i]) == MPI_SUCCESS);
  }
  CHECK(getenv("LD_PRELOAD") == NULL || charged_kib() < full - 3 * 1024);
  free(all);
}

/* Requests that MPI 4 allows, and lengths around the limit of allocations that share pages. */
static void lengths(void) {
  enum { kMost = 200 };
  char* all[kMost];
  for (int i = 0; i < kMost; ++i) {
    const int bytes = i < 100 ? 1 + 41 * i : 4000 + i;
    CHECK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &all[i]) == MPI_SUCCESS);
    memset(all[i], i, bytes);
  }
  for (int i = 0; i < kMost; ++i) {
    const int bytes = i < 100 ? 1 + 41 * i : 4000 + i;
    for (int b = 0; b < bytes; ++b) CHECK(all[i][b] == (char)i);
  }
  for (int i = 0; i < kMost; ++i) CHECK(MPI_Free_mem(all[i]) == MPI_SUCCESS);
  MPI_Info info;
  MPI_Info_create(&info);
  for (int alignment = 16; alignment <= 1 << 14; alignment *= 2) {
    char text[12];
    snprintf(text, sizeof(text), "%d", alignment);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
    for (int i = 0; i < 5; ++i) {
      CHECK(MPI_Alloc_mem(3 + 100 * i, info, &all[i]) == MPI_SUCCESS);
      /* Open MPI 4 ignores the key. */
      if (getenv("LD_PRELOAD") != NULL && alignment <= 4096) {
        CHECK((uintptr_t)all[i] % alignment == 0);
      }
    }
    for (int i = 0; i < 5; ++i) CHECK(MPI_Free_mem(all[i]) == MPI_SUCCESS);
  }
  MPI_Info_free(&info);
}

/* There is no memory for the layout of a datatype: the call fails, and so does the other rank's
   fence. With the library only. */
static void described(void) {
  enum { kBlocks = 1000000 };
  int* const places = malloc(kBlocks * sizeof(int));
  char memory = 0;
  long pages = 0;
  MPI_Datatype type;
  MPI_Win win;
  for (int i = 0; i < kBlocks; ++i) places[i] = 4 * i + i % 3;
  MPI_Type_create_indexed_block(kBlocks, 1, places, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Win_create(&memory, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  int error;
  if (rank == 0) {
    FILE* const file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    struct rlimit before;
    getrlimit(RLIMIT_AS, &before);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (16 << 20);
    const struct rlimit little = {most, before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &little) == 0);
    error = MPI_Get(places, kBlocks, MPI_BYTE, right, 0, 1, type, win);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  } else {
    error = MPI_Win_fence(0, win);
  }
  CHECK(class_of(error) == MPI_ERR_NO_MEM);
  MPI_Type_free(&type);
  free(places);
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
  } else if (strcmp(name, "elements") == 0) {
    elements();
  } else if (strcmp(name, "lengths") == 0) {
    lengths();
  } else if (strcmp(name, "described") == 0) {
    described();
  } else {
    CHECK(!"a case: untouched, elements, lengths or described");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("PASS");
  MPI_Finalize();
  return 0;
}
