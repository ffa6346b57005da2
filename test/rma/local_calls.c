/* Calls on windows that MPI makes local, and calls on a target that is passive: rank 0 makes each
   of them while rank 1 is inside MPI_Recv. It ends if none of them waits for a call of rank 1. On
   two ranks. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLong = 1 << 15 };

static double data[kLong], result[kLong], attached[64];

static void call_all(MPI_Win win, MPI_Win dynamic) {
  void* value;
  int flag, length;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Group group, other;
  MPI_Info info;
  MPI_Request request;
  MPI_Win_get_attr(win, MPI_WIN_SIZE, (void*)&value, &flag);
  MPI_Win_set_name(win, "a window");
  MPI_Win_get_name(win, name, &length);
  MPI_Win_get_info(win, &info);
  MPI_Info_free(&info);
  MPI_Win_get_group(win, &group);
  MPI_Group_incl(group, 1, (const int[]){1}, &other);

  /* Between fences. */
  MPI_Put(data, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
  MPI_Put(data, kLong / 2, MPI_DOUBLE, 1, 1, kLong / 2, MPI_DOUBLE, win);
  MPI_Accumulate(data, 4, MPI_DOUBLE, 1, kLong - 8, 4, MPI_DOUBLE, MPI_SUM, win);
  MPI_Get(result, 4, MPI_DOUBLE, 1, kLong - 4, 4, MPI_DOUBLE, win);

  /* The other's memory, without its help. */
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, dynamic);
  MPI_Win_sync(dynamic);
  MPI_Win_flush_local(1, dynamic);
  MPI_Win_unlock(1, dynamic);
  MPI_Win_attach(dynamic, attached, sizeof(attached));
  MPI_Win_detach(dynamic, attached);
  value = NULL;
  MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, (void*)&value);
  MPI_Free_mem(value);

  MPI_Win passive;
  double* memory;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, (void*)&memory, &passive);
  MPI_Win_lock_all(0, passive);
  MPI_Rput(data, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, passive, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(passive);
  MPI_Win_free(&passive);
  MPI_Group_free(&group);
  MPI_Group_free(&other);
}

/* In a window on which nothing but this is done. */
static void post(MPI_Win win) {
  MPI_Group all, other;
  int is_over = 1;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, (const int[]){1}, &other);
  MPI_Win_post(other, 0, win);
  MPI_Win_test(win, &is_over);
  if (is_over) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

static void start(MPI_Win win) {
  MPI_Group all, other;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, (const int[]){0}, &other);
  MPI_Win_start(other, 0, win);
  MPI_Put(data, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
  MPI_Win_complete(win);
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

int main(int argc, char** argv) {
  int rank;
  double *memory, *own = malloc(sizeof(data));
  MPI_Win windows[2], posted, dynamic;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(own, 0, sizeof(data));
  MPI_Win_create(own, sizeof(data), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0]);
  MPI_Win_allocate(sizeof(data), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory,
                   &windows[1]);
  MPI_Win_create(own, sizeof(data), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &posted);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Win_fence(0, windows[turn % 2]);
    if (rank == 0) {
      call_all(windows[turn % 2], dynamic);
      post(posted);
      MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
      MPI_Win_wait(posted);
    } else {
      MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      start(posted);
    }
    MPI_Win_fence(0, windows[turn % 2]);
  }
  MPI_Win_free(&windows[0]);
  MPI_Win_free(&windows[1]);
  MPI_Win_free(&posted);
  MPI_Win_free(&dynamic);
  free(own);
  MPI_Finalize();
  puts("done");
  return 0;
}
