/* Prints the options that brigade_options_init takes from the environment, and how
   brigade_engine_create fails. With an argument the program names that transport itself. */

#include <mpi.h>
#include <stdio.h>

#include "brigade/brigade.h"

static int failed(brigade_status status) {
  if (status == BRIGADE_OK) return 0;
  printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
  return 1;
}

int main(int argc, char** argv) {
  brigade_options options;
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  double value = 1;
  brigade_call call = {0};
  int size = 0, failures;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  brigade_options_init(&options);
  printf("chunk %zu staging %zu wait %g calibrate %d explain %d check %d\n", options.chunk_bytes,
         options.staging_bytes, options.overflow_wait_seconds, options.calibrate, options.explain,
         options.check_windows);
  if (argc > 1) options.transport = argv[1];
  failures = failed(brigade_engine_create(argc > 1 ? &options : NULL, &engine));
  if (failures == 0) {
    failures += failed(brigade_group_create(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group));
    call.pattern = BRIGADE_BROADCAST;
    call.shape = BRIGADE_FREE;
    call.matrix.data = &value;
    call.matrix.rows = call.matrix.cols = 1;
    failures += failed(brigade_run(group, &call, NULL));
    brigade_group_destroy(group);
    brigade_engine_destroy(engine);
    if (failures == 0) printf("ran\n");
  }
  MPI_Finalize();
  return 0; /* else mpirun would end the others before they print */
}
