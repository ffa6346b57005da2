// How much a stress test does, and from where it draws what is random.
//
// By default little, and always the same. BRIGADE_TEST_FULL=1 selects all of it, and
// BRIGADE_TEST_SEED=<number> draws anew; `./test/run.sh --full` sets both.

#ifndef TEST_SUPPORT_STRESS_H_
#define TEST_SUPPORT_STRESS_H_

#include <cstdlib>
#include <string>

namespace brigade {

inline bool FullStress() { return std::getenv("BRIGADE_TEST_FULL") != nullptr; }

// How often to repeat what is random.
inline int StressRounds(int few, int many) { return FullStress() ? many : few; }

// The seed to start from.
inline unsigned StressSeed() {
  const char* const text = std::getenv("BRIGADE_TEST_SEED");
  return text == nullptr ? 1 : static_cast<unsigned>(std::stoul(text));
}

}  // namespace brigade

#endif  // TEST_SUPPORT_STRESS_H_
