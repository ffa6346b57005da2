/* A profiling tool: it takes MPI's names and calls those that begin with P. It is not ready before
   its MPI_Init has ended, and when MPI ends it makes a window of its own. With -DRAISE_LEVEL it
   initialises MPI for threads, whatever the program requests. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int inits, is_ready;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "tool: CHECK failed: %s\n", what);
  exit(4);
}

static int at_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  int* memory;
  int rank;
  MPI_Win win;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&inits, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  require(rank != 0 || *memory == 1, "one initialisation, as the window says");
  MPI_Win_free(&win);
  if (rank == 0) puts("the tool has passed"), fflush(stdout);
  return MPI_SUCCESS;
}

static int start(int error) {
  int keyval;
  ++inits;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  is_ready = 1;
  return error;
}

int MPI_Init(int* argc, char*** argv) {
#ifdef RAISE_LEVEL
  int provided;
  return start(PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
#else
  return start(PMPI_Init(argc, argv));
#endif
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
#ifdef RAISE_LEVEL
  required = MPI_THREAD_MULTIPLE;
#endif
  return start(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* delete,
                           int* keyval, void* extra) {
  require(is_ready, "MPI_Comm_create_keyval comes behind MPI_Init");
  return PMPI_Comm_create_keyval(copy, delete, keyval, extra);
}

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  require(is_ready, "MPI_Comm_set_attr comes behind MPI_Init");
  return PMPI_Comm_set_attr(comm, keyval, value);
}

int MPI_Initialized(int* flag) {
  require(is_ready, "MPI_Initialized comes behind MPI_Init");
  return PMPI_Initialized(flag);
}
