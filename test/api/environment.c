/* Prints how brigade_engine_create fails, or that a broadcast ran. With an argument the program
   sets that transport, with a second one the length of chunks, too. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "brigade/brigade.h"

static int failed(brigade_status status) {
  if (status == BRIGADE_OK) return 0;
  printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
  return 1;
}

int main(int argc, char** argv) {
  brigade_options options = brigade_options_init();
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  double value = 1;
  const brigade_matrix matrix = {.data = &value, .rows = 1, .cols = 1};
  int size = 0, failures;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) options.transport = argv[1];
  if (argc > 2) options.chunk_bytes = (size_t)atol(argv[2]);
  failures = failed(brigade_engine_create(argc > 1 ? &options : NULL, &engine));
  if (failures == 0) {
    failures +=
        failed(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size, &group));
    failures += failed(brigade_bcast(group, &matrix, BRIGADE_DOUBLE, 0, NULL));
    brigade_group_destroy(group);
    brigade_engine_destroy(engine);
    if (failures == 0) printf("ran\n");
  }
  MPI_Finalize();
  return 0; /* else mpirun would end the others before they print */
}
