/* How programs of BSPlib start and end.
     start_cases CASE     ends with exit code 0, unless said otherwise */

#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brigade/bsp.h"

static int wanted; /* known to process 0 alone */

static void spmd(void) {
  int x = 1, p, sum = 0;
  int* const xs = calloc(99, sizeof(int));
  bsp_begin(wanted);
  bsp_push_reg(xs, 99 * sizeof(int));
  bsp_sync();
  for (p = 0; p < bsp_nprocs(); ++p) bsp_put(p, &x, xs, bsp_pid() * (int)sizeof(int), sizeof(int));
  bsp_sync();
  for (p = 0; p < 99; ++p) sum += xs[p];
  printf("process %d of %d, sum %d\n", bsp_pid(), bsp_nprocs(), sum);
  bsp_end();
  free(xs);
}

/* Each line is one write: MPICH marks every write with the number of the process, and puts() makes
 * two. */
int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  int threads;
  if (strcmp(name, "all") == 0) {
    wanted = bsp_nprocs();
    spmd();
    printf("behind, of %d\n", bsp_nprocs());
  } else if (strcmp(name, "two") == 0) {
    wanted = 2;
    spmd();
    printf("behind, of %d\n", bsp_nprocs());
  } else if (strcmp(name, "too_many") == 0) {
    wanted = 99;
    spmd();
  } else if (strcmp(name, "init") == 0) {
    bsp_init(spmd, argc, argv);
    printf("alone, of %d\n", bsp_nprocs());
    wanted = argc - 1; /* the number of arguments */
    spmd();
    printf("alone again, of %d\n", bsp_nprocs());
  } else if (strcmp(name, "init_and_leave") == 0) {
    bsp_init(spmd, argc, argv);
    printf("alone, of %d\n", bsp_nprocs());
  } else if (strcmp(name, "none") == 0) {
    printf("could be %d\n", bsp_nprocs());
  } else if (strcmp(name, "beside_mpi") == 0) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
    wanted = bsp_nprocs();
    spmd();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("behind, of %d\n", bsp_nprocs());
    MPI_Finalize();
  } else if (strcmp(name, "two_beside_mpi") == 0) {
    MPI_Init(&argc, &argv);
    wanted = 2;
    spmd();
    MPI_Finalize();
  } else if (strcmp(name, "fork") == 0) { /* a child that leaves by exit() ends nothing */
    int status = -1;
    bsp_begin(bsp_nprocs());
    const pid_t child = fork();
    if (child == 0) exit(EXIT_SUCCESS);
    waitpid(child, &status, 0);
    bsp_sync();
    printf("child %d\n", status);
    bsp_end();
  } else if (strcmp(name, "finalised") == 0) { /* exit code 1 */
    MPI_Init(&argc, &argv);
    bsp_begin(bsp_nprocs());
    MPI_Finalize();
    bsp_end();
  } else if (strcmp(name, "abort") == 0) { /* exit code 1 */
    bsp_begin(bsp_nprocs());
    if (bsp_pid() == bsp_nprocs() - 1) bsp_abort("%s of %d\n", "the end", bsp_pid());
    bsp_sync();
    bsp_end();
  } else if (strcmp(name, "abort_first") == 0) { /* exit code 1 */
    bsp_abort("%d is %s", 2, "two");
  } else if (strcmp(name, "abort_wide") == 0) { /* exit code 1; the locale "C" has ASCII only */
    bsp_abort("the name %ls", L"\u4e00");
  }
  return 0;
}
