/* Four processes without MPI connect at a TCP address. Rank 0 broadcasts a factor, and all ranks
   sum their products.

   gcc examples/without_mpi.c -o without_mpi \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   for rank in 0 1 2 3; do ./without_mpi 127.0.0.1:7777 $rank 4 & done; wait

   -> rank 0: the sum is 100 */

#include <stdio.h>
#include <stdlib.h>

#include "brigade/brigade.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  fprintf(stderr, "%s: %s\n", brigade_status_name(status), brigade_error_text());
  exit(1);
}

int main(int argc, char** argv) {
  brigade_bootstrap* bootstrap;
  brigade_engine* engine;
  brigade_group* group;
  if (argc != 4) {
    fprintf(stderr, "usage: without_mpi HOST:PORT RANK RANKS\n");
    return 2;
  }
  const int rank = atoi(argv[2]), ranks = atoi(argv[3]);

  check(brigade_bootstrap_tcp(argv[1], rank, ranks, NULL, &bootstrap));
  check(brigade_engine_create(NULL, &engine));
  check(brigade_group_from_bootstrap(engine, bootstrap, 1, ranks, &group));
  brigade_bootstrap_destroy(bootstrap);

  double factor = rank == 0 ? 10 : 0; /* one element, 1 x 1 */
  const brigade_matrix buffer = {.data = &factor, .rows = 1, .cols = 1};
  check(brigade_bcast(group, &buffer, BRIGADE_DOUBLE, 0, NULL));

  double product = factor * (rank + 1), sum = 0;
  const brigade_matrix source = {.data = &product, .rows = 1, .cols = 1};
  const brigade_matrix result = {.data = &sum, .rows = 1, .cols = 1};
  check(brigade_allreduce(group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, NULL));
  if (rank == 0) printf("rank 0: the sum is %g\n", sum);

  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  return 0;
}
