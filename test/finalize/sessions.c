/* A program of MPI 4 that opens a session, and initialises and finalises MPI while that is open;
   with an argument the session ends first. Windows that are made while MPI is initialised are ours;
   one is never freed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: rank %d: CHECK failed: %s\n", __FILE__, __LINE__, rank, #condition); \
      exit(3);                                                                                     \
    }                                                                                              \
  } while (0)

static int* cells;

static MPI_Win make(MPI_Comm comm) {
  MPI_Win win;
  CHECK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &cells, &win) ==
        MPI_SUCCESS);
  return win;
}

static void use(MPI_Win win) {
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(*cells == (rank + size - 1) % size);
}

static void make_and_use(MPI_Comm comm) {
  MPI_Win win = make(comm);
  void* memory;
  use(win);
  MPI_Win_free(&win);
  MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
  MPI_Free_mem(memory);
}

int main(int argc, char** argv) {
  const int session_ends_first = argc > 1;
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  (void)argv;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  make_and_use(comm);

  MPI_Init(NULL, NULL);
  make_and_use(MPI_COMM_WORLD);
  make_and_use(comm);
  use(make(MPI_COMM_WORLD));
  if (!session_ends_first) {
    MPI_Finalize();
    make_and_use(comm);
  }
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (session_ends_first) {
    make_and_use(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  if (rank == 0) puts("sessions have passed");
  return 0;
}
