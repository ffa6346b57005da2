// Routine: the identity of a communication routine, for messages and statistics.

#ifndef BRIGADE_BLACS_SHIM_ROUTINE_H_
#define BRIGADE_BLACS_SHIM_ROUTINE_H_

#include "membuf/combine.h"

namespace brigade {
namespace blacs {

// X(letter, C type, Element enumerator) for each type of the BLACS. Complex arrays are pairs of
// their part's type, as in every BLACS header. The width of the integer depends on the interface.
#ifdef BRIGADE_BLACS_ILP64
#define BRIGADE_BLACS_INTEGER kInt64
#else
#define BRIGADE_BLACS_INTEGER kInt32
#endif
#define BRIGADE_BLACS_FOR_EACH_TYPE(X)   \
  X(i, blacs_int, BRIGADE_BLACS_INTEGER) \
  X(s, float, kFloat)                    \
  X(d, double, kDouble)                  \
  X(c, float, kComplexFloat)             \
  X(z, double, kComplexDouble)

// The action of a routine, without its type letter.
enum class Verb : uint8_t {
  kGesd2d,
  kTrsd2d,
  kGerv2d,
  kTrrv2d,
  kGebs2d,
  kTrbs2d,
  kGebr2d,
  kTrbr2d,
  kGsum2d,
  kGamx2d,
  kGamn2d,
  kBarrier,
};
inline constexpr int kVerbs = 12;

struct Routine {
  const char* name;  // as a Fortran caller writes it, without the underscore
  Verb verb;
  Element type;  // kBarrier: any
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_ROUTINE_H_
