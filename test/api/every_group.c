#include "test/api/every_group.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brigade/window.h"

static int me, size, failures;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s: %s\n", me, what, brigade_error_text());
  fflush(stdout);
  ++failures;
}

static void ok(brigade_status status, const char* what) { check(status == BRIGADE_OK, what); }

/* Returns the sum of the members' numbers. */
static int64_t sum_over(brigade_group* members, int64_t number) {
  brigade_matrix matrix = {NULL, 1, 1, 0};
  matrix.data = &number;
  ok(brigade_allreduce(members, NULL, &matrix, BRIGADE_INT64, BRIGADE_SUM, NULL), "sum");
  return number;
}

static void split(brigade_group* group) {
  brigade_group* half = NULL;
  int64_t wanted = 0;
  int q, members = 0;
  /* Even and odd ranks, in reverse order. */
  ok(brigade_group_split(group, me % 2, -me, &half), "split");
  for (q = me % 2; q < size; q += 2) {
    wanted += q;
    ++members;
  }
  check(brigade_scope_size(half, BRIGADE_ALL) == members, "members");
  check(brigade_scope_rank(half, BRIGADE_ALL) == members - 1 - me / 2, "order");
  check(sum_over(half, me) == wanted, "sum of a half");
  check(sum_over(group, 1) == size, "sum of the parent");
  brigade_group_destroy(half);

  /* Rank 0 gets no group. */
  half = NULL;
  ok(brigade_group_split(group, me == 0 ? -1 : 7, 0, &half), "split");
  check((half == NULL) == (me == 0), "no group");
  if (half != NULL) check(sum_over(half, 1) == size - 1, "sum of all but one");
  brigade_group_destroy(half);
  check(brigade_group_split(group, 0, 0, NULL) == BRIGADE_INVALID_ARGUMENT, "nowhere to put it");
}

static void from_ranks(brigade_group* group) {
  int* const ranks = malloc((size_t)size * sizeof(int));
  brigade_group* grid = NULL;
  int q;
  /* A column of all ranks from the last to the first. */
  for (q = 0; q < size; ++q) ranks[q] = size - 1 - q;
  ok(brigade_group_from_ranks(group, ranks, size, 1, &grid), "grid");
  check(brigade_scope_rank(grid, BRIGADE_COLUMN) == size - 1 - me, "place");
  check(brigade_scope_size(grid, BRIGADE_ROW) == 1, "row");
  check(sum_over(grid, me) == size * (size - 1) / 2, "sum");
  brigade_group_destroy(grid);
  grid = NULL;
  ok(brigade_group_from_ranks(group, ranks, 1, 1, &grid), "the last rank alone");
  check((grid != NULL) == (me == size - 1), "one member");
  brigade_group_destroy(grid);
  grid = NULL;
  ranks[0] = size;
  check(brigade_group_from_ranks(group, ranks, 1, size, &grid) == BRIGADE_INVALID_ARGUMENT,
        "a rank that is none");
  if (size > 1) {
    ranks[0] = ranks[1];
    check(brigade_group_from_ranks(group, ranks, 1, size, &grid) == BRIGADE_INVALID_ARGUMENT,
          "a rank listed twice");
  }
  check(brigade_group_from_ranks(group, ranks, 1 << 20, 1 << 10, &grid) == BRIGADE_INVALID_ARGUMENT,
        "a shape beyond the group");
  check(grid == NULL, "no grid was made");
  free(ranks);
}

static void duplicate(brigade_group* group) {
  brigade_group* other = NULL;
  ok(brigade_group_duplicate(group, &other), "duplicate");
  check(brigade_scope_rank(other, BRIGADE_ALL) == me, "rank");
  brigade_group_abort(other, "only the duplicate");
  check(brigade_group_error(other) == BRIGADE_ABORTED, "the duplicate is broken");
  check(sum_over(group, 1) == size, "the other group is not");
  brigade_group_destroy(other);
}

static void window(brigade_group* group) {
  brigade_window* exposed = NULL;
  const int64_t sent = me;
  int64_t* memory = NULL;
  ok(brigade_window_allocate(group, 16, 8, (void**)&memory, &exposed), "window");
  ok(brigade_window_fence(exposed, 0), "fence");
  ok(brigade_window_put(exposed, &sent, 1, BRIGADE_INT64, (me + 1) % size, 1), "put");
  ok(brigade_window_fence(exposed, 0), "fence");
  check(memory[1] == (me + size - 1) % size, "what was put");
  ok(brigade_window_fence(exposed, BRIGADE_FENCE_NOTHING_SUCCEEDS), "fence");
  ok(brigade_window_free(exposed), "free");
}

int every_group(brigade_group* group) {
  me = brigade_scope_rank(group, BRIGADE_ALL);
  size = brigade_scope_size(group, BRIGADE_ALL);
  failures = 0;
  split(group);
  from_ranks(group);
  duplicate(group);
  window(group);
  return failures;
}
