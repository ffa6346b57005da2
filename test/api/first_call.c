/* brigade.h in a program that has not started its MPI, or has none: there is an engine, and the
 * text of an error says why there is no group of a communicator. */

#include <stdio.h>

#include "brigade/brigade.h"

int main(void) {
  brigade_engine* engine = NULL;
  brigade_group* group = NULL;
  brigade_status status = brigade_engine_create(NULL, &engine);
  if (status != BRIGADE_OK) {
    printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
    return 1;
  }
  status = brigade_group_from_mpi(engine, 0, 1, 1, &group);
  printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
  brigade_engine_destroy(engine);
  return status != BRIGADE_UNAVAILABLE;
}
