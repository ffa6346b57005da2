// Sums, absolute maxima and minima over a scope (brigade/blacs.h, "Combine").

#ifndef BRIGADE_BLACS_SHIM_COMBINE_H_
#define BRIGADE_BLACS_SHIM_COMBINE_H_

#include "blacs_shim/call.h"
#include "blacs_shim/integers.h"
#include "blacs_shim/routine.h"

namespace brigade {
namespace blacs {

// The arguments for the locations of a maximum or minimum.
struct WinnerArguments {
  Integers rows;
  Integers cols;
  int64_t ldia;  // -1: nowhere, and ties go by value instead of by process
};

void Sum(const Routine& routine, int64_t context, const char* scope, const char* top,
         const MatrixArguments& matrix, int64_t row, int64_t col);

// Computes the maximum or the minimum, depending on `routine`.
void Extreme(const Routine& routine, int64_t context, const char* scope, const char* top,
             const MatrixArguments& matrix, const WinnerArguments& winners, int64_t row,
             int64_t col);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_COMBINE_H_
