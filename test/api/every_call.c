#include "test/api/every_call.h"

#include <math.h>
#include <string.h>

#include "test/api/call_forms.h"

static void prepare_bcast(void) {
  fill(a, me == size - 1 ? 100 : 0);
  source = of(a);
}
FORMS(bcast, group, &source, BRIGADE_DOUBLE, size - 1, &options)
static void verify_bcast(const char* name) { expect(a, 100, 1, name); }

static void prepare_reduce(void) {
  fill(a, me);
  fill(b, -1);
  source = of(a);
  result = of(b);
}
FORMS(reduce, group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, size - 1, &options)
static void verify_reduce(const char* name) {
  expect(a, me, 1, name);
  if (me == size - 1) expect(b, sum_of_ranks(), size, name);
  if (me != size - 1) expect(b, -1, 1, name);
}

static void prepare_allreduce(void) { prepare_reduce(); }
FORMS(allreduce, group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &options)
static void verify_allreduce(const char* name) {
  expect(a, me, 1, name);
  expect(b, sum_of_ranks(), size, name);
}

static void prepare_sendrecv(void) { prepare_reduce(); }
FORMS(sendrecv, group, &source, right(), &result, left(), BRIGADE_DOUBLE, &options)
static void verify_sendrecv(const char* name) { expect(b, left(), 1, name); }

static void prepare_allgather(void) {
  int i;
  fill(a, me);
  for (i = 0; i < size * kRows * 2; ++i) all[i] = -1;
  source = of(a);
  source.cols = 2;
  result.data = all;
  result.rows = kRows;
  result.cols = 2 * size;
  result.ld = 0;
}
FORMS(allgather, group, &source, &result, BRIGADE_DOUBLE, &options)
static void verify_allgather(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i < 2 * kRows; ++i) {
      wrong += all[q * 2 * kRows + i] != q + i / kRows * kLd + i % kRows;
    }
  }
  check(wrong == 0, name);
}

/* Block q is a column of q + 1 elements. */
static void prepare_allgatherv(void) {
  int q;
  fill(a, me);
  source = of(a);
  source.rows = me + 1;
  source.cols = 1;
  for (q = 0; q < size; ++q) {
    memset(&blocks[q], 0, sizeof(blocks[q]));
    blocks[q].data = all + q * kMostRanks / 2;
    blocks[q].rows = q + 1;
    blocks[q].cols = 1;
  }
  for (q = 0; q < kMostRanks * kRows; ++q) all[q] = -1;
}
FORMS(allgatherv, group, &source, blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, &options)
static void verify_allgatherv(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i <= q; ++i) wrong += ((double*)blocks[q].data)[i] != q + i;
  }
  check(wrong == 0, name);
}

static void prepare_reduce_scatter(void) {
  int i;
  for (i = 0; i < size * kRows * 2; ++i) all[i] = i + me;
  source.data = all;
  source.rows = kRows;
  source.cols = 2 * size;
  source.ld = 0;
  fill(b, -1);
  result = of(b);
  result.cols = 2;
}
FORMS(reduce_scatter, group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &options)
static void verify_reduce_scatter(const char* name) {
  int i, wrong = 0;
  for (i = 0; i < 2 * kRows; ++i) {
    wrong += b[i / kRows * kLd + i % kRows] != (me * 2.0 * kRows + i) * size + sum_of_ranks();
  }
  check(wrong == 0, name);
}

static void prepare_reduce_scatterv(void) {
  int q, i;
  prepare_allgatherv();
  for (q = 0; q < size; ++q) {
    for (i = 0; i <= q; ++i) ((double*)blocks[q].data)[i] = i + me;
  }
  fill(b, -1);
  result = of(b);
  result.rows = me + 1;
  result.cols = 1;
}
FORMS(reduce_scatterv, group, blocks, sizeof(blocks[0]), &result, BRIGADE_DOUBLE, BRIGADE_SUM,
      &options)
static void verify_reduce_scatterv(const char* name) {
  int i, wrong = 0;
  for (i = 0; i <= me; ++i) wrong += b[i] != (double)i * size + sum_of_ranks();
  check(wrong == 0, name);
}

static void prepare_barrier(void) {}
FORMS(barrier, group, &options)
static void verify_barrier(const char* name) { (void)name; }

/* Around the ring: a send, whose form is tested with a blocking receive, and the reverse. */
static void prepare_send(void) { prepare_reduce(); }
FORMS(send, group, &source, BRIGADE_DOUBLE, right(), &options)
static void verify_send(const char* name) {
  ok(brigade_recv(group, &result, BRIGADE_DOUBLE, left(), NULL), name);
  expect(b, left(), 1, name);
}
static void prepare_recv(void) {
  prepare_reduce();
  ok(brigade_send(group, &source, BRIGADE_DOUBLE, right(), NULL), "send");
}
FORMS(recv, group, &result, BRIGADE_DOUBLE, left(), &options)
static void verify_recv(const char* name) { expect(b, left(), 1, name); }

static void all_forms(void) {
  const test_case cases[] = {CASE(bcast),
                             CASE(reduce),
                             CASE(allreduce),
                             CASE(sendrecv),
                             CASE(allgather),
                             CASE(allgatherv),
                             CASE(reduce_scatter),
                             CASE(reduce_scatterv),
                             CASE(barrier),
                             CASE(send),
                             CASE(recv)};
  run_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

static void in_place(void) {
  brigade_matrix here = of(a);
  int q, i, wrong = 0;
  fill(a, me);
  ok(brigade_allreduce(group, NULL, &here, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "in place");
  expect(a, sum_of_ranks(), size, "all-reduce in place");
  fill(a, me);
  ok(brigade_reduce(group, NULL, &here, BRIGADE_DOUBLE, BRIGADE_MAX, 0, NULL), "in place");
  expect(a, me == 0 ? size - 1 : me, 1, "reduce in place");
  prepare_allgather();
  for (i = 0; i < 2 * kRows; ++i) all[me * 2 * kRows + i] = me + i / kRows * kLd + i % kRows;
  ok(brigade_allgather(group, NULL, &result, BRIGADE_DOUBLE, NULL), "in place");
  verify_allgather("all-gather in place");
  /* A result is not needed where a reduction has none. */
  fill(b, me);
  source = of(b);
  result = of(a);
  ok(brigade_reduce(group, &source, me == 0 ? &result : NULL, BRIGADE_DOUBLE, BRIGADE_MIN, 0, NULL),
     "no result");
  if (me == 0) expect(a, 0, 1, "reduce");
  for (q = 0; q < kLd * kCols; ++q) wrong += b[q] != (q % kLd < kRows ? me + q : -7);
  check(wrong == 0, "the source stays");
}

static void topologies_and_scopes(void) {
  brigade_call_options how = brigade_call_options_init();
  brigade_matrix here = of(a);
  int topology;
  for (topology = BRIGADE_AUTO; topology <= BRIGADE_CIRCULANT; ++topology) {
    how.topology = (brigade_topology)topology;
    if (topology != BRIGADE_HYPERCUBE && topology != BRIGADE_RING_ALLREDUCE) {
      fill(a, me == 0 ? 5 : 0);
      ok(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &how), "broadcast");
      expect(a, 5, 1, "broadcast");
    }
    prepare_allgather();
    ok(brigade_allgather(group, &source, &result, BRIGADE_DOUBLE, &how), "all-gather");
    verify_allgather("all-gather");
    prepare_reduce_scatter();
    ok(brigade_reduce_scatter(group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &how),
       "reduce-scatter");
    verify_reduce_scatter("reduce-scatter");
    if (topology < BRIGADE_TWO_TREE) {
      fill(a, me);
      ok(brigade_allreduce(group, NULL, &here, BRIGADE_DOUBLE, BRIGADE_SUM, &how), "all-reduce");
      expect(a, sum_of_ranks(), size, "all-reduce");
    }
  }
  how = brigade_call_options_init();
  for (how.scope = BRIGADE_ALL; how.scope <= BRIGADE_COLUMN; ++how.scope) {
    const int ranks = brigade_scope_size(group, how.scope);
    fill(a, 1);
    ok(brigade_allreduce(group, NULL, &here, BRIGADE_DOUBLE, BRIGADE_SUM, &how), "scope");
    expect(a, ranks, ranks, "scope");
  }
}

/* One element of each type: 3 + rank, of which the operations are known. */
static void types_and_operations(void) {
  int64_t number, sum = 0, product = 1, both = ~(int64_t)0, any = 0, one = 0;
  int q, type;
  brigade_matrix matrix = {NULL, 1, 1, 0};
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f;
    double d;
    float cf[2];
    double cd[2];
    uint16_t half;
  } value;
  matrix.data = &value;
  for (q = 0; q < size; ++q) {
    number = 3 + q % 2;
    sum += number;
    product = product * number;
    both &= number;
    any |= number;
    one ^= number;
  }
  number = 3 + me % 2;
  for (type = BRIGADE_INT8; type <= BRIGADE_COMPLEX_DOUBLE; ++type) {
    const brigade_op ops[] = {BRIGADE_SUM, BRIGADE_PRODUCT, BRIGADE_BIT_AND, BRIGADE_BIT_OR,
                              BRIGADE_BIT_XOR};
    const int64_t wanted[] = {sum, product, both, any, one};
    int o;
    if (type == BRIGADE_FLOAT16 || type == BRIGADE_BFLOAT16) continue; /* below */
    for (o = 0; o < (type < BRIGADE_FLOAT16 ? 5 : 2); ++o) {
      int equal;
      memset(&value, 0, sizeof(value));
      if (type <= BRIGADE_UINT64) value.i64 = number;
      if (type == BRIGADE_FLOAT || type == BRIGADE_COMPLEX_FLOAT) value.f = (float)number;
      if (type == BRIGADE_DOUBLE || type == BRIGADE_COMPLEX_DOUBLE) value.d = (double)number;
      ok(brigade_allreduce(group, NULL, &matrix, (brigade_type)type, ops[o], NULL), "a type");
      switch (type) {
        case BRIGADE_INT8:
        case BRIGADE_UINT8:
          equal = value.i8 == (int8_t)wanted[o];
          break;
        case BRIGADE_INT16:
        case BRIGADE_UINT16:
          equal = value.i16 == (int16_t)wanted[o];
          break;
        case BRIGADE_INT32:
        case BRIGADE_UINT32:
          equal = value.i32 == (int32_t)wanted[o];
          break;
        case BRIGADE_INT64:
        case BRIGADE_UINT64:
          equal = value.i64 == wanted[o];
          break;
        case BRIGADE_FLOAT:
        case BRIGADE_COMPLEX_FLOAT:
          equal = value.f == (float)wanted[o];
          break;
        default:
          equal = value.d == (double)wanted[o];
      }
      check(equal, "a type and an operation");
    }
  }
  /* The ranks have the numbers 0, 1, ..., and the last one has -100. */
  for (q = 0; size > 1 && q < 4; ++q) {
    const brigade_op ops[] = {BRIGADE_MAX, BRIGADE_MIN, BRIGADE_ABS_MAX, BRIGADE_ABS_MIN};
    const int32_t wanted[] = {size - 2, -100, -100, 0};
    value.i32 = me == size - 1 ? -100 : me;
    ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_INT32, ops[q], NULL), "a selection");
    check(value.i32 == wanted[q], "the selected number");
  }
  value.half = 0x3c00; /* 1 in binary16 */
  ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_FLOAT16, BRIGADE_SUM, NULL), "binary16");
  for (q = 0; 1 << q < size; ++q) continue;
  check(1 << q != size || value.half == 0x3c00 + (q << 10), "sum of binary16");
  value.half = 0x3c00;
  ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_FLOAT16, BRIGADE_MAX, NULL), "binary16");
  check(value.half == 0x3c00, "maximum of binary16");
  value.half = 0x3f80; /* 1 in bfloat16 */
  ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_BFLOAT16, BRIGADE_PRODUCT, NULL), "bfloat16");
  check(value.half == 0x3f80, "product of bfloat16");
  refused(brigade_allreduce(group, NULL, &matrix, BRIGADE_BYTE, BRIGADE_SUM, NULL), "byte");
  refused(brigade_allreduce(group, NULL, &matrix, BRIGADE_LONG_DOUBLE, BRIGADE_SUM, NULL), "type");
  refused(brigade_allreduce(group, NULL, &matrix, BRIGADE_INT32, BRIGADE_REPLACE, NULL), "op");
}

/* The extreme number is that of rank size / 2. */
static void locations(void) {
  const brigade_op ops[] = {BRIGADE_MAX, BRIGADE_MIN, BRIGADE_ABS_MAX};
  brigade_call_options how = brigade_call_options_init();
  double value;
  int32_t location;
  brigade_matrix matrix = {NULL, 1, 1, 0};
  int i, root;
  matrix.data = &value;
  how.locations = &location;
  for (i = 0; i < 3; ++i) {
    const double extreme = ops[i] == BRIGADE_MIN ? -100 : 100;
    for (root = 0; root <= size; ++root) {
      value = me == size / 2 ? extreme : me;
      location = me;
      if (root < size) {
        ok(brigade_reduce(group, NULL, &matrix, BRIGADE_DOUBLE, ops[i], root, &how), "reduce");
      } else {
        ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_DOUBLE, ops[i], &how), "all-reduce");
      }
      if (root != size && root != me) continue;
      check(value == extreme && location == size / 2, "an extreme number and its rank");
    }
  }
}

static void add_bytes(void* into, const void* left_, const void* right_, int64_t count,
                      void* bytes) {
  int64_t i;
  for (i = 0; i < count * (int64_t) * (size_t*)bytes; ++i) {
    ((uint8_t*)into)[i] = (uint8_t)(((const uint8_t*)left_)[i] + ((const uint8_t*)right_)[i]);
  }
}

/* The longest that are always valid: the default chunk_bytes less 64. */
static void long_elements(void) {
  static uint8_t elements[2 * 32704];
  size_t bytes = 32704, i;
  int wrong = 0;
  brigade_matrix matrix = {NULL, 2, 1, 0};
  brigade_call_options how = brigade_call_options_init();
  const brigade_user_op op = {add_bytes, &bytes, 32704, 1};
  how.user_op = &op;
  matrix.data = elements;
  for (i = 0; i < 2 * bytes; ++i) elements[i] = (uint8_t)((int)i + me);
  ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_BYTE, BRIGADE_USER, &how), "long elements");
  for (i = 0; i < 2 * bytes; ++i) {
    wrong += elements[i] != (uint8_t)((int)i * size + (int)sum_of_ranks());
  }
  check(wrong == 0, "sums of long elements");
}

static void user_operation(void) {
  enum { kMaps = 500 };
  static affine maps[kMaps];
  affine wanted = {1, 0};
  brigade_matrix matrix = {NULL, kMaps, 1, 0};
  brigade_call_options how = brigade_call_options_init();
  brigade_user_op op = {compose, NULL, sizeof(affine), 0};
  int calls = 0, q, i, root, wrong = 0;
  op.context = &calls;
  how.user_op = &op;
  matrix.data = maps;
  for (q = 0; q < size; ++q) {
    wanted.m = wanted.m * (q % 2 + 1);
    wanted.c = (q % 2 + 1) * wanted.c + q;
  }
  for (root = 0; root <= size; ++root) {
    for (i = 0; i < kMaps; ++i) {
      maps[i].m = me % 2 + 1;
      maps[i].c = me;
    }
    if (root < size) {
      ok(brigade_reduce(group, NULL, &matrix, BRIGADE_BYTE, BRIGADE_USER, root, &how), "compose");
    } else {
      ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_BYTE, BRIGADE_USER, &how), "compose");
    }
    for (i = 0; (root == size || root == me) && i < kMaps; ++i) {
      wrong += maps[i].m != wanted.m || maps[i].c != wanted.c;
    }
  }
  check(wrong == 0, "compositions in the order of ranks");
  long_elements();
  check(size == 1 || calls > 0 || me > 0, "the function was called");
  how.user_op = NULL;
  refused(brigade_allreduce(group, NULL, &matrix, BRIGADE_BYTE, BRIGADE_USER, &how), "user_op");
}

/* Memory that ranks of a host can map is like any other. */
static void shared_memory(void) {
  double* const number = brigade_alloc(sizeof(double));
  brigade_matrix matrix = {NULL, 1, 1, 0};
  check(number != NULL, "brigade_alloc");
  *number = me;
  matrix.data = number;
  ok(brigade_allreduce(group, NULL, &matrix, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "shared memory");
  check(*number == sum_of_ranks(), "shared memory");
  brigade_free(number);
  brigade_free(NULL);
}

/* Matrices without elements need no memory. */
static void empty_matrices(void) {
  static const brigade_matrix none;
  const size_t bytes = sizeof(none);
  int q;
  for (q = 0; q < size; ++q) blocks[q] = none;
  ok(brigade_bcast(group, &none, BRIGADE_DOUBLE, 0, NULL), "empty bcast");
  ok(brigade_reduce(group, &none, &none, BRIGADE_DOUBLE, BRIGADE_SUM, 0, NULL), "empty reduce");
  ok(brigade_reduce(group, NULL, &none, BRIGADE_DOUBLE, BRIGADE_SUM, 0, NULL), "empty in place");
  ok(brigade_allreduce(group, &none, &none, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "empty allreduce");
  ok(brigade_scan(group, &none, &none, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "empty scan");
  ok(brigade_exscan(group, &none, &none, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "empty exscan");
  ok(brigade_reduce_scatter(group, &none, &none, BRIGADE_DOUBLE, BRIGADE_SUM, NULL),
     "empty reduce_scatter");
  ok(brigade_reduce_scatterv(group, blocks, bytes, &none, BRIGADE_DOUBLE, BRIGADE_SUM, NULL),
     "empty reduce_scatterv");
  ok(brigade_allgather(group, &none, &none, BRIGADE_DOUBLE, NULL), "empty allgather");
  ok(brigade_allgatherv(group, &none, blocks, bytes, BRIGADE_DOUBLE, NULL), "empty allgatherv");
  ok(brigade_gather(group, &none, &none, BRIGADE_DOUBLE, 0, NULL), "empty gather");
  ok(brigade_gatherv(group, &none, blocks, bytes, BRIGADE_DOUBLE, 0, NULL), "empty gatherv");
  ok(brigade_scatter(group, &none, &none, BRIGADE_DOUBLE, 0, NULL), "empty scatter");
  ok(brigade_scatterv(group, blocks, bytes, &none, BRIGADE_DOUBLE, 0, NULL), "empty scatterv");
  ok(brigade_alltoall(group, &none, &none, BRIGADE_DOUBLE, NULL), "empty alltoall");
  ok(brigade_alltoallv(group, blocks, blocks, bytes, BRIGADE_DOUBLE, NULL), "empty alltoallv");
  ok(brigade_sendrecv(group, &none, right(), &none, left(), BRIGADE_DOUBLE, NULL),
     "empty sendrecv");
}

/* Sizes whose products or sums exceed 64 bits. No call may compute an address with them. */
static void sizes_beyond_memory(void) {
  brigade_matrix here = of(a);
  brigade_plan* plan = NULL;
  int q;
  here.cols = INT64_MAX;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, NULL), "more than 2^62 bytes");
  here.rows = INT64_MIN;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, NULL), "rows = -9223372036854775808");
  for (q = 0; q < size; ++q) {
    blocks[q] = of(a);
    blocks[q].rows = (int64_t)1 << 59;
    blocks[q].cols = 1;
    blocks[q].ld = 0;
  }
  refused(
      brigade_plan_allgatherv(group, NULL, blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, NULL, &plan),
      "make several shorter ones");
  if (size == 1) return;
  here.rows = 1;
  here.cols = size;
  here.ld = INT64_MAX / 2; /* each block is right by itself */
  refused(brigade_allgather(group, NULL, &here, BRIGADE_DOUBLE, NULL), "more than 2^62 bytes");
  refused(brigade_reduce_scatter(group, &here, &here, BRIGADE_DOUBLE, BRIGADE_SUM, NULL),
          "more than 2^62 bytes");
}

static void mistakes(void) {
  brigade_call_options how = brigade_call_options_init();
  struct {
    brigade_call_options known;
    int unknown;
  } newer;
  brigade_statistics counters = {0};
  brigade_matrix here = of(a), there = of(b);
  brigade_plan* plan = NULL;
  brigade_operation *operation = NULL, *second = NULL;

  refused(brigade_bcast(NULL, &here, BRIGADE_DOUBLE, 0, NULL), "group is a null pointer");
  refused(brigade_bcast(group, NULL, BRIGADE_DOUBLE, 0, NULL), "buffer is a null pointer");
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, size, NULL), "outside");
  refused(brigade_bcast_start(group, &here, BRIGADE_DOUBLE, 0, NULL, NULL), "operation is a null");
  refused(brigade_sendrecv(group, &here, size, &here, left(), BRIGADE_DOUBLE, NULL), "outside");
  operation = (brigade_operation*)&here;
  refused(brigade_bcast_start(group, &here, BRIGADE_DOUBLE, size, NULL, &operation), "outside");
  check(operation == NULL, "no operation was made");
  refused(brigade_plan_bcast(group, &here, BRIGADE_DOUBLE, -1, NULL, &plan), "outside");
  check(plan == NULL, "no plan was made");
  refused(brigade_plan_run(NULL, NULL), "plan is a null pointer");
  refused(brigade_gather(group, NULL, &here, BRIGADE_DOUBLE, size, NULL), "outside");
  refused(brigade_scatter(group, &here, NULL, BRIGADE_DOUBLE, -1, NULL), "outside");
  refused(brigade_reduce(group, NULL, &here, BRIGADE_DOUBLE, BRIGADE_SUM, size, NULL), "outside");
  refused(brigade_bcast(group, &here, BRIGADE_LONG_DOUBLE, 0, NULL),
          "long double is only for windows");
  refused(brigade_allreduce(group, NULL, &here, BRIGADE_INT32, BRIGADE_LOGICAL_AND, NULL),
          "is only for windows");
  here.ld = 3;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, NULL), "buffer");
  here = of(a);
  refused(brigade_allgatherv(group, &here, blocks, 8, BRIGADE_DOUBLE, NULL),
          "matrix_bytes is 8: pass sizeof(brigade_matrix), 32");
  if (size > 1) {
    here.cols = size + 1;
    here.rows = here.ld = 1;
    refused(brigade_allgather(group, NULL, &here, BRIGADE_DOUBLE, NULL), "no equal blocks");
    here = of(a);
  }

  how.size = 0;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &how),
          "brigade_call_options has a size of 0: initialise it with brigade_call_options_init()");
  memset(&newer, 0, sizeof(newer));
  newer.known.size = sizeof(newer);
  ok(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &newer.known), "a newer structure");
  newer.unknown = 1;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &newer.known), "does not know");
  how = brigade_call_options_init();
  how.timeout_seconds = -1;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &how), "timeout_seconds is -1");
  how.timeout_seconds = NAN;
  refused(brigade_barrier(group, &how), "timeout_seconds is");
  how = brigade_call_options_init();
  how.scope = (brigade_scope)3;
  refused(brigade_barrier(group, &how), "scope has no value 3");
  how = brigade_call_options_init();
  how.topology = (brigade_topology)9;
  refused(brigade_barrier(group, &how), "topology has no value 9");
  how.topology = BRIGADE_TREE;
  how.parameter = 1; /* with which a tree has no end */
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &how), "topology parameter 1 is below 2");
  how = brigade_call_options_init();
  here.data = NULL;
  there.cols /= size;
  refused(brigade_allgather(group, &there, &here, BRIGADE_DOUBLE, NULL),
          kCols % size == 0 ? "this rank's block of the result is a null" : "columns");
  here = of(a);
  how.statistics = &counters;
  refused(brigade_bcast(group, &here, BRIGADE_DOUBLE, 0, &how), "brigade_statistics_init()");
  ok(brigade_barrier_start(group, NULL, &operation), "start");
  refused(brigade_wait(operation, &counters), "brigade_statistics_init()");
  ok(brigade_wait(operation, NULL), "the operation is still there");
  counters = brigade_statistics_init();
  ok(brigade_barrier(group, &how), "counters");
  check(size == 1 || counters.messages_sent > 0, "messages are counted");

  /* One operation of a plan at a time. */
  ok(brigade_plan_bcast(group, &here, BRIGADE_DOUBLE, 0, NULL, &plan), "plan");
  ok(brigade_plan_start(plan, &operation), "start");
  refused(brigade_plan_start(plan, &second), "pending");
  refused(brigade_plan_run(plan, NULL), "pending");
  ok(brigade_wait(operation, NULL), "wait");
  ok(brigade_plan_run(plan, NULL), "run");
  brigade_plan_destroy(plan);
  brigade_plan_destroy(NULL);
}

int every_call(brigade_engine* of_engine, brigade_group* of_group) {
  engine = of_engine;
  group = of_group;
  me = brigade_scope_rank(group, BRIGADE_ALL);
  size = brigade_scope_size(group, BRIGADE_ALL);
  failures = 0;
  options = brigade_call_options_init();
  all_forms();
  block_calls();
  in_place();
  topologies_and_scopes();
  types_and_operations();
  locations();
  user_operation();
  completion_calls();
  shared_memory();
  empty_matrices();
  sizes_beyond_memory();
  mistakes();
  return failures;
}
