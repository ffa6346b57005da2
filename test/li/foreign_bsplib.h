/* Replaces the test.h that programs of BSPonMPI's tests include. */

#ifndef BSPONMPI_TEST_H
#define BSPONMPI_TEST_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                            \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "wrong: %s, line %d of %s\n", #condition, __LINE__, __FILE__); \
      abort();                                                                       \
    }                                                                                \
  } while (0)
#define EXPECT_EQ(format, found, wanted) EXPECT((found) == (wanted))
#define EXPECT_OP(format, one, operator, other) EXPECT((one) operator(other))
#define EXPECT_IMPLIES(one, other) EXPECT(!(one) || (other))

/* `outcome`: success(), or abort(TEXT). */
#define TEST(name, outcome)                                                                       \
  static void expects_success(void) {}                                                            \
  static void expects_abort(const char* text) { fprintf(stderr, "an error is due: %s\n", text); } \
  void name(void);                                                                                \
  int main(void) {                                                                                \
    (void)expects_success;                                                                        \
    (void)expects_abort;                                                                          \
    expects_##outcome;                                                                            \
    name();                                                                                       \
    return 0;                                                                                     \
  }                                                                                               \
  void name(void)

#endif
