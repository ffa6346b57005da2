/* Gathers, scatters, all-to-alls and scans, against values computed here. */

#include <stdint.h>
#include <string.h>

#include "test/api/call_forms.h"

static const brigade_matrix nothing;
static double others[kMostRanks * kRows * 2];
static brigade_matrix more_blocks[kMostRanks];

/* The root of all calls. */
static int root(void) { return size - 1; }
static int is_root(void) { return me == root(); }

/* A matrix of two columns for each rank, without gaps. */
static brigade_matrix two_columns_each(double* data) {
  brigade_matrix matrix = {NULL, kRows, 0, 0};
  matrix.data = data;
  matrix.cols = 2 * size;
  return matrix;
}

static void set(double* data, double value, double factor) {
  int i;
  for (i = 0; i < kMostRanks * kRows * 2; ++i) data[i] = value + factor * i;
}

/* Where element i of a block of two columns lies in a matrix with gaps. */
static int in_gaps(int i) { return i / kRows * kLd + i % kRows; }

/* The elements of block q of gatherv and scatterv. */
static int elements(int q) { return q % 8 + 1; }

/* A column for each rank; data only if `is_here`. */
static void set_blocks(brigade_matrix* matrices, double* data, int is_here) {
  int q;
  for (q = 0; q < size; ++q) {
    matrices[q] = nothing;
    matrices[q].rows = elements(q);
    matrices[q].cols = 1;
    if (is_here || q == me) matrices[q].data = data + q * kRows;
  }
}

static void prepare_gather(void) {
  fill(a, me);
  set(all, -1, 0);
  source = of(a);
  source.cols = 2;
  result = two_columns_each(all);
}
FORMS(gather, group, &source, is_root() ? &result : NULL, BRIGADE_DOUBLE, root(), &options)
static void verify_gather(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i < 2 * kRows; ++i) {
      wrong += all[q * 2 * kRows + i] != (is_root() ? q + in_gaps(i) : -1);
    }
  }
  check(wrong == 0, name);
}

static void prepare_gatherv(void) {
  fill(a, me);
  set(all, -1, 0);
  set_blocks(blocks, all, is_root());
  source = of(a);
  source.rows = elements(me);
  source.cols = 1;
}
FORMS(gatherv, group, &source, blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, root(), &options)
static void verify_gatherv(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i < kRows; ++i) {
      wrong += all[q * kRows + i] != (is_root() && i < elements(q) ? q + i : -1);
    }
  }
  check(wrong == 0, name);
}

static void prepare_scatter(void) {
  set(all, 0, 1);
  fill(b, -1);
  source = two_columns_each(all);
  result = of(b);
  result.cols = 2;
}
FORMS(scatter, group, is_root() ? &source : NULL, &result, BRIGADE_DOUBLE, root(), &options)
static void verify_scatter(const char* name) {
  int i, wrong = 0;
  for (i = 0; i < 2 * kRows; ++i) wrong += b[in_gaps(i)] != me * 2 * kRows + i;
  for (i = 2 * kLd; i < 3 * kLd; ++i) wrong += b[i] != (i % kLd < kRows ? i - 1 : -7);
  check(wrong == 0, name);
}

static void prepare_scatterv(void) {
  set(all, is_root() ? 0 : -1, is_root());
  set_blocks(blocks, all, is_root());
  fill(b, -1);
  result = of(b);
  result.rows = elements(me);
  result.cols = 1;
}
FORMS(scatterv, group, blocks, sizeof(blocks[0]), &result, BRIGADE_DOUBLE, root(), &options)
static void verify_scatterv(const char* name) {
  int i, wrong = 0;
  for (i = 0; i < kRows; ++i) wrong += b[i] != (i < elements(me) ? me * kRows + i : i - 1);
  check(wrong == 0, name);
}

static void prepare_alltoall(void) {
  set(all, 10000 * me, 1);
  set(others, -1, 0);
  source = two_columns_each(all);
  result = two_columns_each(others);
}
FORMS(alltoall, group, &source, &result, BRIGADE_DOUBLE, &options)
static void verify_alltoall(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i < 2 * kRows; ++i) {
      wrong += others[q * 2 * kRows + i] != 10000 * q + me * 2 * kRows + i;
    }
  }
  check(wrong == 0, name);
}

/* The elements that a rank sends to another; some blocks are empty. */
static int elements_to(int from, int to) { return (from + 2 * to) % 3 * 5; }

static void prepare_alltoallv(void) {
  int q;
  set(all, 10000 * me, 1);
  set(others, -1, 0);
  set_blocks(blocks, all, 1);
  set_blocks(more_blocks, others, 1);
  for (q = 0; q < size; ++q) {
    blocks[q].rows = elements_to(me, q);
    more_blocks[q].rows = elements_to(q, me);
  }
}
FORMS(alltoallv, group, blocks, more_blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, &options)
static void verify_alltoallv(const char* name) {
  int q, i, wrong = 0;
  for (q = 0; q < size; ++q) {
    for (i = 0; i < kRows; ++i) {
      wrong += others[q * kRows + i] != (i < elements_to(q, me) ? 10000 * q + me * kRows + i : -1);
    }
  }
  check(wrong == 0, name);
}

static void prepare_scan(void) {
  fill(a, me);
  fill(b, -1);
  source = of(a);
  result = of(b);
}
FORMS(scan, group, &source, &result, BRIGADE_DOUBLE, BRIGADE_SUM, &options)
static void verify_scan(const char* name) {
  expect(a, me, 1, name);
  expect(b, me * (me + 1) / 2.0, me + 1, name);
}

static void prepare_exscan(void) { prepare_scan(); }
FORMS(exscan, group, &source, me > 0 ? &result : NULL, BRIGADE_DOUBLE, BRIGADE_SUM, &options)
static void verify_exscan(const char* name) {
  expect(a, me, 1, name);
  if (me > 0) expect(b, me * (me - 1) / 2.0, me, name);
  if (me == 0) expect(b, -1, 1, name);
}

static void in_place(void) {
  const brigade_matrix* own = &source;
  int i;
  prepare_gather();
  for (i = 0; is_root() && i < 2 * kRows; ++i) all[me * 2 * kRows + i] = me + in_gaps(i);
  if (is_root()) own = NULL;
  ok(brigade_gather(group, own, &result, BRIGADE_DOUBLE, root(), NULL), "in place");
  verify_gather("gather in place");

  prepare_gatherv();
  for (i = 0; i < elements(me); ++i) all[me * kRows + i] = me + i;
  ok(brigade_gatherv(group, NULL, blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, root(), NULL),
     "in place");
  for (i = 0; !is_root() && i < elements(me); ++i) all[me * kRows + i] -= me + i + 1;
  verify_gatherv("gatherv in place");

  prepare_scatter();
  own = is_root() ? NULL : &result;
  ok(brigade_scatter(group, &source, own, BRIGADE_DOUBLE, root(), NULL), "in place");
  for (i = 0; is_root() && i < 2 * kRows; ++i) b[in_gaps(i)] = all[me * 2 * kRows + i];
  verify_scatter("scatter in place");

  prepare_scatterv();
  ok(brigade_scatterv(group, blocks, sizeof(blocks[0]), NULL, BRIGADE_DOUBLE, root(), NULL),
     "in place");
  memcpy(b, all + me * kRows, (size_t)elements(me) * sizeof(double));
  verify_scatterv("scatterv in place");

  prepare_scan();
  ok(brigade_scan(group, NULL, &source, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "in place");
  expect(a, me * (me + 1) / 2.0, me + 1, "scan in place");
  prepare_scan();
  ok(brigade_exscan(group, NULL, &source, BRIGADE_DOUBLE, BRIGADE_SUM, NULL), "in place");
  expect(a, me * (me - 1) / 2.0, me == 0 ? 1 : me, "exscan in place");
}

static void topologies_and_scopes(void) {
  int i;
  for (i = 0; i < 4; ++i) {
    options = brigade_call_options_init();
    options.topology = i == 0 ? BRIGADE_AUTO : BRIGADE_TREE;
    options.parameter = i == 3 ? kMostRanks : i; /* 1 is no tree */
    if (i == 1) options.parameter = 0;
    prepare_gather();
    ok(run_gather(), "gather");
    verify_gather("gather along a tree");
    prepare_scatterv();
    ok(run_scatterv(), "scatterv");
    verify_scatterv("scatterv along a tree");
    prepare_alltoall();
    ok(run_alltoall(), "alltoall");
    verify_alltoall("alltoall along a tree, which is pairwise");
    options.topology = BRIGADE_CIRCULANT;
    prepare_alltoall();
    ok(run_alltoall(), "alltoall");
    verify_alltoall("alltoall along a circulant graph");
    options.topology = BRIGADE_INCREASING_RINGS;
    prepare_gatherv();
    ok(run_gatherv(), "gatherv");
    verify_gatherv("gatherv along a ring");
    prepare_scatter();
    ok(run_scatter(), "scatter");
    verify_scatter("scatter along a ring");
    options.topology = i == 0 ? BRIGADE_HYPERCUBE : BRIGADE_INCREASING_RINGS;
    options.parameter = 0;
    prepare_scan();
    ok(run_scan(), "scan");
    verify_scan("scan along a topology");
  }
  options = brigade_call_options_init();
  for (options.scope = BRIGADE_ALL; options.scope <= BRIGADE_COLUMN; ++options.scope) {
    const int ranks = brigade_scope_size(group, options.scope);
    const int rank = brigade_scope_rank(group, options.scope);
    prepare_scan();
    fill(a, 1);
    ok(run_scan(), "scope");
    expect(b, rank + 1, rank + 1, "scan of a scope");
    set(all, rank, 0);
    source = result = nothing;
    source.data = all;
    result.data = others;
    source.rows = result.rows = 3;
    source.cols = result.cols = ranks;
    ok(run_alltoall(), "scope");
    for (i = 0; i < 3 * ranks; ++i) check(others[i] == i / 3, "all-to-all of a scope");
  }
  options = brigade_call_options_init();
}

/* Elements of each size. */
static void types(void) {
  const size_t bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  const uint8_t* const got = (const uint8_t*)others;
  size_t i;
  int type;
  for (type = BRIGADE_BYTE; type <= BRIGADE_COMPLEX_DOUBLE; ++type) {
    const size_t block = 3 * bytes[type];
    memset(all, me + 1, sizeof(all));
    memset(others, 0, sizeof(others));
    source = result = nothing;
    source.data = all;
    result.data = others;
    source.rows = result.rows = 3;
    source.cols = 1;
    result.cols = size;
    ok(brigade_gather(group, &source, &result, (brigade_type)type, root(), NULL), "a type");
    for (i = 0; is_root() && i < block * (size_t)size; ++i) {
      check(got[i] == i / block + 1, "gather of a type");
    }
    source.cols = size;
    ok(brigade_alltoall(group, &source, &result, (brigade_type)type, NULL), "a type");
    for (i = 0; i < block * (size_t)size; ++i) check(got[i] == i / block + 1, "a type to all");
  }
}

static void user_operation(void) {
  enum { kMaps = 500 };
  static affine maps[kMaps], results[kMaps];
  brigade_call_options how = brigade_call_options_init();
  brigade_user_op op = {compose, NULL, sizeof(affine), 0};
  int calls = 0, exclusive, q, i, wrong = 0;
  op.context = &calls;
  how.user_op = &op;
  for (exclusive = 0; exclusive < 2; ++exclusive) {
    affine wanted = {1, 0};
    for (q = 0; q < me + 1 - exclusive; ++q) {
      wanted.m *= q % 2 + 1;
      wanted.c = (q % 2 + 1) * wanted.c + q;
    }
    for (i = 0; i < kMaps; ++i) {
      maps[i].m = me % 2 + 1;
      maps[i].c = me;
      results[i].m = 1;
      results[i].c = 0;
    }
    source = result = nothing;
    source.data = maps;
    result.data = results;
    source.rows = result.rows = kMaps;
    source.cols = result.cols = 1;
    if (exclusive) {
      ok(brigade_exscan(group, &source, &result, BRIGADE_BYTE, BRIGADE_USER, &how), "compose");
    } else {
      ok(brigade_scan(group, &source, &result, BRIGADE_BYTE, BRIGADE_USER, &how), "compose");
    }
    for (i = 0; i < kMaps; ++i) {
      wrong += results[i].m != wanted.m || results[i].c != wanted.c;
      wrong += maps[i].m != me % 2 + 1 || maps[i].c != me;
    }
  }
  check(wrong == 0, "compositions in the order of ranks");
}

/* Refused without effect, so one rank may make them alone. */
static void mistakes(void) {
  int32_t location = 0;
  brigade_call_options how = brigade_call_options_init();
  prepare_gather();
  if (is_root()) {
    source.cols = 1;
    refused(brigade_gather(group, &source, &result, BRIGADE_DOUBLE, root(), NULL),
            "source has 240 bytes, this rank's block 480");
    refused(brigade_gather(group, &source, NULL, BRIGADE_DOUBLE, root(), NULL),
            "result is a null pointer");
    refused(brigade_scatter(group, NULL, &result, BRIGADE_DOUBLE, root(), NULL),
            "source is a null pointer");
  } else {
    refused(brigade_gather(group, NULL, &result, BRIGADE_DOUBLE, root(), NULL),
            "source is a null pointer");
    refused(brigade_scatter(group, NULL, NULL, BRIGADE_DOUBLE, root(), NULL),
            "result is a null pointer");
  }
  refused(brigade_gather(group, &source, &result, BRIGADE_DOUBLE, size, NULL), "outside");
  refused(brigade_scatterv(group, blocks, 8, &result, BRIGADE_DOUBLE, root(), NULL),
          "matrix_bytes is 8");
  refused(brigade_alltoall(group, NULL, &result, BRIGADE_DOUBLE, NULL), "source is a null pointer");
  prepare_alltoallv();
  ++blocks[me].rows;
  refused(run_alltoallv(), "keeps");
  how.topology = BRIGADE_CIRCULANT;
  refused(brigade_alltoallv(group, blocks, more_blocks, sizeof(blocks[0]), BRIGADE_DOUBLE, &how),
          "a circulant graph needs blocks of equal lengths");
  how = brigade_call_options_init();
  prepare_scan();
  --result.rows;
  refused(run_scan(), "the source has");
  how.locations = &location;
  refused(brigade_scan(group, NULL, &source, BRIGADE_DOUBLE, BRIGADE_MAX, &how), "locations");
  how = brigade_call_options_init();
  how.topology = BRIGADE_TREE;
  refused(brigade_scan(group, NULL, &source, BRIGADE_DOUBLE, BRIGADE_MAX, &how), "topology");
}

void block_calls(void) {
  const test_case cases[] = {CASE(gather),   CASE(gatherv),   CASE(scatter), CASE(scatterv),
                             CASE(alltoall), CASE(alltoallv), CASE(scan),    CASE(exscan)};
  run_cases(cases, sizeof(cases) / sizeof(cases[0]));
  in_place();
  topologies_and_scopes();
  types();
  user_operation();
  mistakes();
}
