/* A BSPlib program that knows nothing of us, and calls MPI between supersteps. */
#include <mpi.h>
/* In this order: the folder of bsp.h must not hide mpi.h. */
#include <bsp.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int from_left = -1, sum = 0;
  MPI_Init(&argc, &argv);
  bsp_begin(bsp_nprocs());
  const bsp_nprocs_t n = bsp_nprocs();
  const bsp_pid_t me = bsp_pid(), left = (me + n - 1) % n;
  bsp_size_t bytes = 0;
  bsp_nprocs_t messages = 0;
  bsp_push_reg(&from_left, sizeof(from_left));
  bsp_sync();
  bsp_put((me + 1) % n, &me, &from_left, 0, sizeof(me));
  bsp_send(left, NULL, &me, sizeof(me));
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int is_right =
      from_left == left && messages == 1 && bytes == sizeof(me) && sum == n * (n - 1) / 2;
  bsp_end();
  if (!is_right) fprintf(stderr, "wrong on process %d\n", me);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
