/* stress.h for programs of C, whose processes all draw the same. */

#ifndef TEST_SUPPORT_STRESS_C_H_
#define TEST_SUPPORT_STRESS_C_H_

#include <stdint.h>
#include <stdlib.h>

static inline int full_stress(void) { return getenv("BRIGADE_TEST_FULL") != NULL; }

static inline int stress_rounds(int few, int many) { return full_stress() ? many : few; }

static inline unsigned stress_seed(void) {
  const char* const text = getenv("BRIGADE_TEST_SEED");
  return text == NULL ? 1 : (unsigned)strtoul(text, NULL, 10);
}

/* Of 0 to below - 1. */
static inline int any(int below) {
  static uint64_t state;
  static int is_seeded;
  if (!is_seeded) state = stress_seed();
  is_seeded = 1;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((state >> 33) % (uint64_t)below);
}

#endif /* TEST_SUPPORT_STRESS_C_H_ */
