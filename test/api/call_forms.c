#include "test/api/call_forms.h"

#include <stdio.h>
#include <string.h>

int me, size, failures;
brigade_engine* engine;
brigade_group* group;
double a[kLd * kCols], b[kLd * kCols];
brigade_matrix source, result;
brigade_matrix blocks[kMostRanks];
brigade_call_options options;
double all[kMostRanks * kRows * 2];

int right(void) { return (me + 1) % size; }
int left(void) { return (me + size - 1) % size; }

void check(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s: %s\n", me, what, brigade_error_text());
  fflush(stdout);
  ++failures;
}

void ok(brigade_status status, const char* what) { check(status == BRIGADE_OK, what); }

void refused(brigade_status status, const char* part) {
  check(status == BRIGADE_INVALID_ARGUMENT, part);
  check(strstr(brigade_error_text(), part) != NULL, part);
}

brigade_matrix of(double* data) {
  brigade_matrix matrix = {NULL, kRows, kCols, kLd};
  matrix.data = data;
  return matrix;
}

void fill(double* data, double value) {
  int i;
  for (i = 0; i < kLd * kCols; ++i) data[i] = i % kLd < kRows ? value + i : -7;
}

void expect(const double* data, double value, double factor, const char* what) {
  int i, wrong = 0;
  for (i = 0; i < kLd * kCols; ++i) {
    wrong += data[i] != (i % kLd < kRows ? value + factor * i : -7);
  }
  check(wrong == 0, what);
}

enum { kBlocking, kStarted, kPlanned, kForms };
static int form;

void compose(void* into, const void* left_, const void* right_, int64_t count, void* context) {
  int64_t i;
  for (i = 0; i < count; ++i) {
    const affine l = ((const affine*)left_)[i], r = ((const affine*)right_)[i];
    affine* const both = &((affine*)into)[i];
    both->m = l.m * r.m;
    both->c = r.m * l.c + r.c;
  }
  ++*(int*)context;
}

static void end(brigade_operation* operation, const char* what) {
  while (!brigade_test(operation)) brigade_progress(engine);
  ok(brigade_wait(operation, NULL), what);
}

double sum_of_ranks(void) { return size * (size - 1) / 2.0; }

static void run_case(const test_case* test) {
  brigade_operation* operation = NULL;
  brigade_plan* plan = NULL;
  int i;
  test->prepare();
  if (form == kBlocking) {
    ok(test->run(), test->name);
    test->verify(test->name);
  } else if (form == kStarted) {
    ok(test->start(&operation), test->name);
    end(operation, test->name);
    test->verify(test->name);
  } else {
    ok(test->plan(&plan), test->name);
    for (i = 0; i < 2; ++i) {
      if (i > 0) test->prepare();
      ok(brigade_plan_run(plan, NULL), test->name);
      test->verify(test->name);
    }
    test->prepare();
    ok(brigade_plan_start(plan, &operation), test->name);
    end(operation, test->name);
    test->verify(test->name);
    brigade_plan_destroy(plan);
  }
}

void run_cases(const test_case* cases, size_t count) {
  size_t i;
  for (form = kBlocking; form < kForms; ++form) {
    for (i = 0; i < count; ++i) run_case(&cases[i]);
  }
}
