// Every pattern over every scope of a group, each result checked.

#ifndef BRIGADE_TEST_SUPPORT_ALL_PATTERNS_H_
#define BRIGADE_TEST_SUPPORT_ALL_PATTERNS_H_

#include <cstdint>

#include "patterns/group/group.h"

namespace brigade {

// Runs all patterns with messages of `elems` doubles. Collective over the group. Throws
// std::runtime_error, with the call and the wrong element, or the failure.
void RunAllPatterns(Group* group, int64_t elems);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_ALL_PATTERNS_H_
