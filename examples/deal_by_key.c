/* BSPlib: numbers go to the process whose range they are in, as messages. Then each process puts
   how many it has to those behind it, and so everybody knows where its own begin.

   mpicc examples/deal_by_key.c -o deal_by_key \
     -Iinclude -Lbazel-bin/bsp_shim -lbrigade_bsp -Wl,-rpath,$PWD/bazel-bin/bsp_shim
   mpirun -n 4 --oversubscribe ./deal_by_key

   -> process 0 has 13 numbers, from place 0 on, and their sum is 78
   -> process 3 has 12 numbers, from place 38 on, and their sum is 522 */

#include <stdio.h>
#include <stdlib.h>

#include "brigade/bsp.h"

enum { kMine = 50 }; /* numbers, of all processes */

int main(void) {
  bsp_begin(bsp_nprocs());
  const int n = bsp_nprocs(), me = bsp_pid();
  int* const counts = calloc((size_t)n, sizeof(int));
  int tag_bytes = sizeof(int), messages, bytes, length, key, number, first = 0, sum = 0;
  bsp_push_reg(counts, n * (int)sizeof(int));
  bsp_set_tagsize(&tag_bytes);
  bsp_sync(); /* both are in effect now */

  for (number = me; number < kMine; number += n) {
    key = number * n / kMine;
    bsp_send(key, &key, &number, sizeof(number));
  }
  bsp_sync();

  bsp_qsize(&messages, &bytes);
  for (int p = me + 1; p < n; ++p) {
    bsp_put(p, &messages, counts, me * (int)sizeof(int), sizeof(int));
  }
  for (int i = 0; i < messages; ++i) {
    bsp_get_tag(&length, &key);
    if (key != me) bsp_abort("process %d got what belongs to %d", me, key);
    bsp_move(&number, length);
    sum += number;
  }
  bsp_sync();

  for (int p = 0; p < me; ++p) first += counts[p];
  printf("process %d has %d numbers, from place %d on, and their sum is %d\n", me, messages, first,
         sum);
  bsp_pop_reg(counts);
  bsp_end();
  free(counts);
  return 0;
}
