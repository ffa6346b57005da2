/* The first call of brigade.h, in a program that has not started its MPI: prints how it fails. */

#include <stdio.h>

#include "brigade/brigade.h"

int main(void) {
  brigade_engine* engine = NULL;
  const brigade_status status = brigade_engine_create(NULL, &engine);
  printf("%s: %s\n", brigade_status_name(status), brigade_error_text());
  return status == BRIGADE_OK;
}
