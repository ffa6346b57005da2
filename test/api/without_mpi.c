/* The C interface in processes without MPI, each started by itself.
     without_mpi TRANSPORT ADDRESS RANK SIZE [SECRET [JOB [SECONDS]]] */

#include <stdio.h>
#include <stdlib.h>

#include "brigade/brigade.h"
#include "test/api/every_call.h"
#include "test/api/every_group.h"

static void check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
  exit(3);
}

int main(int argc, char** argv) {
  brigade_options options = brigade_options_init();
  brigade_bootstrap_options how = brigade_bootstrap_options_init();
  brigade_bootstrap* bootstrap;
  brigade_engine* engine;
  brigade_group* group;
  int size, failures;
  if (argc < 5) return 2;
  options.transport = argv[1];
  size = atoi(argv[4]);
  if (argc > 5) how.secret = argv[5];
  if (argc > 6) how.job = argv[6];
  if (argc > 7) how.timeout_seconds = atof(argv[7]);
  check(brigade_engine_create(&options, &engine));
  check(brigade_bootstrap_tcp(argv[2], atoi(argv[3]), size, &how, &bootstrap));
  check(brigade_group_from_bootstrap(engine, bootstrap, 1, size, &group));
  brigade_bootstrap_destroy(bootstrap);
  failures = every_call(engine, group) + every_group(group);
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
  if (failures == 0) printf("rank %s: passed\n", argv[3]);
  return failures == 0 ? 0 : 1;
}
