// CHECK: for invariants of the code, never for conditions that a caller can cause. A violated one
// prints its place and both values, and aborts: continuing would risk the user's data.

#ifndef BRIGADE_MEMBUF_CHECK_H_
#define BRIGADE_MEMBUF_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace brigade {

[[noreturn]] inline void CheckFailed(const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "brigade: %s:%d: internal check failed: %s\n", file, line, what.c_str());
  std::abort();
}

// Of numbers. Most files include this one, and <sstream> would take long to compile in each.
template <typename A, typename B>
[[noreturn]] void CheckOpFailed(const char* file, int line, const char* text, const A& a,
                                const B& b) {
  CheckFailed(file, line,
              std::string(text) + " (" + std::to_string(a) + " vs " + std::to_string(b) + ")");
}

}  // namespace brigade

#define BRIGADE_CHECK(condition) \
  ((condition) ? (void)0 : ::brigade::CheckFailed(__FILE__, __LINE__, #condition))

#define BRIGADE_CHECK_OP(op, a, b) \
  (((a)op(b)) ? (void)0 : ::brigade::CheckOpFailed(__FILE__, __LINE__, #a " " #op " " #b, (a), (b)))

#define BRIGADE_CHECK_EQ(a, b) BRIGADE_CHECK_OP(==, a, b)
#define BRIGADE_CHECK_LE(a, b) BRIGADE_CHECK_OP(<=, a, b)
#define BRIGADE_CHECK_LT(a, b) BRIGADE_CHECK_OP(<, a, b)

#endif  // BRIGADE_MEMBUF_CHECK_H_
