/* Calls of brigade/calls.h on a group, each in its three forms: what their tests have in common. */

#ifndef BRIGADE_TEST_API_CALL_FORMS_H_
#define BRIGADE_TEST_API_CALL_FORMS_H_

#include <stddef.h>
#include <stdint.h>

#include "brigade/brigade.h"

enum { kRows = 30, kCols = 40, kLd = 33, kMostRanks = 64 };

extern int me, size, failures;
extern brigade_engine* engine;
extern brigade_group* group;

/* The neighbours in a ring of all ranks. */
int right(void);
int left(void);

void check(int condition, const char* what);
void ok(brigade_status status, const char* what);
/* The call was refused, and the text has `part` in it. */
void refused(brigade_status status, const char* part);

/* The matrices of a test, with gaps that no call may touch. */
extern double a[kLd * kCols], b[kLd * kCols];
brigade_matrix of(double* data);
void fill(double* data, double value);
void expect(const double* data, double value, double factor, const char* what);

/* The arguments of a call; what it writes is set anew before each run. */
typedef struct {
  const char* name;
  void (*prepare)(void);
  brigade_status (*run)(void);
  brigade_status (*start)(brigade_operation** operation);
  brigade_status (*plan)(brigade_plan** plan);
  void (*verify)(const char* name);
} test_case;

extern brigade_matrix source, result;
extern brigade_matrix blocks[kMostRanks];
extern brigade_call_options options;
/* A block of two columns for each rank, without gaps. */
extern double all[kMostRanks * kRows * 2];

double sum_of_ranks(void);

/* An operation: affine maps x -> m x + c, one after the other: associative, and not commutative. */
typedef struct {
  int64_t m, c;
} affine;
/* Counts its calls in the int `context`. */
void compose(void* into, const void* left, const void* right, int64_t count, void* context);

/* Defines the forms of a call with equal arguments. */
#define FORMS(name, ...)                                                         \
  static brigade_status run_##name(void) { return brigade_##name(__VA_ARGS__); } \
  static brigade_status start_##name(brigade_operation** operation) {            \
    return brigade_##name##_start(__VA_ARGS__, operation);                       \
  }                                                                              \
  static brigade_status plan_##name(brigade_plan** plan) {                       \
    return brigade_plan_##name(__VA_ARGS__, plan);                               \
  }
#define CASE(name) \
  { #name, prepare_##name, run_##name, start_##name, plan_##name, verify_##name }

/* Runs every case in three forms: blocking, started and planned. A plan runs twice, blocking and
 * started. */
void run_cases(const test_case* cases, size_t count);

/* Gathers, scatters, all-to-alls and scans. */
void block_calls(void);
/* Waits for started calls, and tests of them. */
void completion_calls(void);

#endif /* BRIGADE_TEST_API_CALL_FORMS_H_ */
